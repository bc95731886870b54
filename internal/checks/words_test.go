package checks_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// refusedWords are words that names and prose do not use, with the word to use instead.
var refusedWords = map[string]string{
	"mint": "issue", "mints": "issues", "minted": "issued", "minting": "issuing",
	"lane": "queue", "lanes": "queues",
	"lineage": "token family", "lineages": "token families",
	"judge": "check", "judges": "checks", "judged": "checked", "judging": "checking",
	"desk": "console", "desks": "consoles",
	"anew":    "again",
	"whoever": "the noun", "whomever": "the noun",
}

// proseFiles are the endings of the files whose names and prose people read.
var proseFiles = []string{".go", ".md", ".html", ".sql", ".sh", ".css", ".js", ".ts", ".py", ".php", ".json", ".yaml", ".yml", ".mutant", "Makefile", "Dockerfile"}

// No file and no file name contains a refused word, alone or as a part of a camel-case
// name.
func TestWords(t *testing.T) {
	t.Parallel()
	read := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "node_modules"):
			return fs.SkipDir
		case entry.IsDir(), path == "internal/checks/words_test.go":
			return nil
		case !slices.ContainsFunc(proseFiles, func(end string) bool { return strings.HasSuffix(path, end) }):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		read++
		for _, word := range wordsOf(path) {
			if instead, refused := refusedWords[word]; refused {
				t.Errorf("%s: the name contains %q, use %s", path, word, instead)
			}
		}
		for n, line := range strings.Split(string(text), "\n") {
			for _, word := range wordsOf(line) {
				if instead, refused := refusedWords[word]; refused {
					t.Errorf("%s:%d: %q, use %s", path, n+1, word, instead)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 1000 {
		t.Errorf("only %d files were read", read)
	}
}

// wordsOf returns the words of a line in lower case. A camel-case name has several.
func wordsOf(line string) (words []string) {
	runes, start := []rune(line), 0
	end := func(i int) {
		if i > start {
			words = append(words, strings.ToLower(string(runes[start:i])))
		}
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r):
			end(i)
			start = i + 1
		case i > start && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			end(i)
			start = i
		}
	}
	end(len(runes))
	return words
}

func TestWordsOf(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"planeFor Ireland":         {"plane", "for", "ireland"},
		"newLane(laneID, MAXLane)": {"new", "lane", "lane", "id", "max", "lane"},
		"// Judged, DESK_2 desks":  {"judged", "desk", "desks"},
		"":                         nil,
	} {
		if got := wordsOf(line); !slices.Equal(got, want) {
			t.Errorf("wordsOf(%q) = %q, want %q", line, got, want)
		}
	}
}
