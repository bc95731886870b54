package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a [Store] in a file that only its owner can read, for one process. A
// server with many businesses has a table instead, and several processes lock the
// row while one of them refreshes.
type File struct{ Path string }

// Load implements [Store].
func (f File) Load() (Tokens, bool, error) {
	text, err := os.ReadFile(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return Tokens{}, false, nil
	}
	if err != nil {
		return Tokens{}, false, err
	}
	var t Tokens
	if err := json.Unmarshal(text, &t); err != nil {
		return Tokens{}, false, fmt.Errorf("%s: %w", f.Path, err)
	}
	return t, t.Refresh != "", nil
}

// Save implements [Store]. The new file is on the disk before it takes the old
// one's place: whenever the machine stops, there is a whole pair.
func (f File) Save(t Tokens) error {
	text, err := json.MarshalIndent(t, "", "  ") //nolint:gosec // to store them is what it is for
	if err != nil {
		return err
	}
	if err := writeThrough(f.Path+".new", text); err != nil {
		return fmt.Errorf("save tokens: %w", err)
	}
	if err := os.Rename(f.Path+".new", f.Path); err != nil {
		return fmt.Errorf("save tokens: %w", err)
	}
	return syncFolder(filepath.Dir(f.Path))
}

// Delete implements [Store].
func (f File) Delete() error {
	if err := os.Remove(f.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete tokens: %w", err)
	}
	return nil
}

func writeThrough(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Sync(), file.Close())
}

// syncFolder makes the rename last. Where folders cannot be synced, on Windows,
// the rename is as safe as it gets.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := folder.Sync(); err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("save tokens: %w", err)
	}
	return nil
}
