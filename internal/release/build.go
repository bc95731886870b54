package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
)

// release is a version that is being built. The same commit and the same version of Go give
// the same files, byte for byte.
type release struct {
	version string
	commit  commit
	modules []*module
	folder  string
	flags   []string // of go build
	env     []string // for go build, besides our own
}

type commit struct {
	id   string
	time time.Time // that of each file in the archives
}

var versionForm = regexp.MustCompile(`^v(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)$`)

// checkCommit returns the commit that is checked out. It fails if files differ from it, or if
// its changelog has no section of the version.
func checkCommit(version string) (commit, error) {
	parts := versionForm.FindStringSubmatch(version)
	if parts == nil {
		return commit{}, fmt.Errorf("version %q: want one such as v0.1.0", version)
	}
	changes, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return commit{}, err
	}
	if heading := "\n## " + parts[1] + ", "; !strings.Contains(string(changes), heading) {
		return commit{}, fmt.Errorf("CHANGELOG.md has no section %q with a date", strings.TrimSpace(heading))
	}
	changed, err := command("git", "status", "--porcelain")
	if err != nil {
		return commit{}, err
	}
	if changed != "" {
		return commit{}, fmt.Errorf("files are not as they were committed:\n%s", changed)
	}
	text, err := command("git", "log", "-1", "--format=%H %ct")
	if err != nil {
		return commit{}, err
	}
	id, seconds, _ := strings.Cut(strings.TrimSpace(text), " ")
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return commit{}, fmt.Errorf("time of the commit: %w", err)
	}
	return commit{id, time.Unix(at, 0).UTC()}, nil
}

func command(name string, args ...string) (string, error) {
	cmd := exec.CommandContext(context.Background(), name, args...) //nolint:gosec // our own words
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return string(text), nil
}

// build writes the files of the release into its folder, and their names to out.
func (r *release) build(out io.Writer, platforms []string) error {
	if err := os.RemoveAll(r.folder); err != nil {
		return err
	}
	if err := os.MkdirAll(r.folder, 0o755); err != nil { //nolint:gosec // to be published
		return err
	}
	for _, platform := range platforms {
		if err := r.buildFor(platform); err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
	}
	if err := r.archiveSource(); err != nil {
		return fmt.Errorf("source: %w", err)
	}
	sums, err := r.writeSums()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s, commit %s\n%s", r.version, r.commit.id, sums)
	return err
}

// buildFor builds the program for a platform, such as linux/amd64.
func (r *release) buildFor(platform string) error {
	goos, goarch, found := strings.Cut(platform, "/")
	if !found {
		return errors.New("want a platform such as linux/amd64")
	}
	temporary, err := os.MkdirTemp("", "partnerkit-release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	program := filepath.Join(temporary, "server")
	args := append([]string{"build", "-o", program}, r.flags...)
	cmd := exec.CommandContext(context.Background(), "go", append(args, "./examples/server")...) //nolint:gosec // our own words
	cmd.Env = append(append(os.Environ(), r.env...), "GOOS="+goos, "GOARCH="+goarch)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	info.Main.Version = r.version // the program itself does not know it
	used, err := r.builtFrom(info)
	if err != nil {
		return err
	}
	var materials, licenses bytes.Buffer
	if err := writeSBOM(&materials, info, used); err != nil {
		return err
	}
	if err := writeLicenseTexts(&licenses, used); err != nil {
		return err
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	own, err := os.ReadFile("LICENSE")
	if err != nil {
		return err
	}
	name := "partnerkit-server-" + r.version + "-" + goos + "-" + goarch
	if err := os.WriteFile(filepath.Join(r.folder, name+".cdx.json"), materials.Bytes(), 0o644); err != nil { //nolint:gosec // to be published
		return err
	}
	return r.archive(name, []file{
		{"LICENSE", 0o644, own},
		{"LICENSES-OF-DEPENDENCIES", 0o644, licenses.Bytes()},
		{"server", 0o755, text},
		{"server.cdx.json", 0o644, materials.Bytes()},
	})
}

// builtFrom returns the modules that a program contains.
func (r *release) builtFrom(info *debug.BuildInfo) ([]*module, error) {
	var used []*module
	for _, dep := range info.Deps {
		at := slices.IndexFunc(r.modules, func(m *module) bool { return m.Path == dep.Path && m.Version == dep.Version })
		if at < 0 {
			return nil, fmt.Errorf("the license of %s %s is not known", dep.Path, dep.Version)
		}
		used = append(used, r.modules[at])
	}
	return used, nil
}

// file is one of an archive.
type file struct {
	name string
	mode int64
	text []byte
}

// archive writes NAME.tar.gz with the files in a folder NAME.
func (r *release) archive(name string, files []file) error {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed) // writes no time of its own
	archive := tar.NewWriter(zip)
	for _, f := range files {
		header := &tar.Header{Name: name + "/" + f.name, Mode: f.mode, Size: int64(len(f.text)), ModTime: r.commit.time, Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(f.text); err != nil {
			return err
		}
	}
	if err := errors.Join(archive.Close(), zip.Close()); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.folder, name+".tar.gz"), packed.Bytes(), 0o644) //nolint:gosec // to be published
}

// archiveSource writes what the commit contains.
func (r *release) archiveSource() error {
	name := "partnerkit-" + r.version
	text, err := command("git", "archive", "--format=tar", "--prefix="+name+"/", r.commit.id)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := io.WriteString(zip, text); err != nil {
		return err
	}
	if err := zip.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.folder, name+".tar.gz"), packed.Bytes(), 0o644) //nolint:gosec // to be published
}

// writeSums writes SHA256SUMS, which sha256sum --check reads.
func (r *release) writeSums() (string, error) {
	entries, err := os.ReadDir(r.folder) // sorted by name
	if err != nil {
		return "", err
	}
	var sums strings.Builder
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(r.folder, entry.Name()))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), entry.Name())
	}
	return sums.String(), os.WriteFile(filepath.Join(r.folder, "SHA256SUMS"), []byte(sums.String()), 0o644) //nolint:gosec // to be published
}
