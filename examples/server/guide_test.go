package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// guide is what a file tells its readers to paste.
type guide struct {
	starts   bool // it shows startCommand
	commands []command
	isLast   bool // the last block was one of the commands
}

type command struct {
	line   int
	text   string
	output string // empty: the guide does not show any
}

// fence is the first line of a block: its language, and before it, in a comment, why
// its commands are not run.
var (
	fence  = regexp.MustCompile("^```([a-z]*)$")
	notRun = regexp.MustCompile(`^<!-- not run: (.+) -->$`)
)

// readGuide reads the blocks marked sh, and the block marked text that may follow one.
func readGuide(t *testing.T, file string) (g guide) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var language, before string
	var block []string
	begin, inside := 0, false
	for i, line := range strings.Split(string(text), "\n") {
		switch opened := fence.FindStringSubmatch(line); {
		case inside && line == "```":
			inside = false
			g.add(t, command{line: begin, text: strings.Join(block, "\n")}, language, before)
			before = ""
		case inside:
			block = append(block, line)
		case opened != nil:
			language, inside, begin, block = opened[1], true, i+1, nil
		case line != "":
			before = line
		}
	}
	return g
}

func (g *guide) add(t *testing.T, c command, language, before string) {
	t.Helper()
	follows := g.isLast && before == "" // nothing stands between the two
	g.isLast = false
	why := notRun.FindStringSubmatch(before)
	switch {
	case language == "sh" && why != nil:
		t.Logf("line %d is not run: %s", c.line, why[1])
	case language == "sh" && c.text == startCommand:
		g.starts = true
	case language == "sh":
		g.commands, g.isLast = append(g.commands, c), true
	case language == "text" && follows:
		g.commands[len(g.commands)-1].output = c.text
	}
}

// matches compares without regard to space; … stands for anything.
func matches(want, got string) bool {
	bare := func(text string) string { return strings.Join(strings.Fields(text), "") }
	parts := strings.Split(bare(want), "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`(?s)^` + strings.Join(parts, ".*") + `$`).MatchString(bare(got))
}
