package report

import (
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed benchmarks.md.tmpl
var pageText string

var pageTemplate = template.Must(template.New("benchmarks.md").Parse(pageText))

// about explains the operations of a group.
var about = map[string]string{
	"Capacity": "What a node carries over HTTP, with 64 clients that send one request at a time. The rate is the median of five turns of three seconds, with the lowest and the highest. " +
		"Nodes are processes of their own. The clients, the receiver of the webhooks, PostgreSQL and Redis run on the same two cores. An event is recorded by a call of its own and counts when it has arrived at its webhook.",
	"Growth": "What an operation costs with more rows: each size is the number of tokens, of families, of events, of deliveries and of values of app data; there are a tenth as many short-lived rows. " +
		"Half of everything belongs to one business, one webhook and one app, so that these grow with the whole. A thousand tokens, spread over all of them, are in use at every size; other rows are read from all over the tables. " +
		"The lines should be flat. The deeper index of a million rows may cost 1.6 times as much as that of ten thousand.",
	"Idle": "The reference server in a process of its own, on a database that exists already. Linux reports the memory and the processor time. Statements are counted between the store and SQLite, in the process of the benchmark, with the same loops.",
}

// page is what the template shows.
type page struct {
	Bars, Missed   int
	Machine, Notes []string
	Groups         []section
	Peers          []Peer
}

type section struct {
	Name, About, Table string
	Images             []image
}

type image struct{ Title, File string }

// WriteDocs writes benchmarks.md into a folder, and its plots into images there.
func (r *Report) WriteDocs(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "images"), 0o755); err != nil {
		return err
	}
	shown := page{Missed: r.Missed(), Machine: r.Machine, Notes: r.Notes, Peers: Peers()}
	for _, row := range r.Rows {
		if row.Bar != "" {
			shown.Bars++
		}
	}
	for _, group := range r.groups() {
		s := section{Name: group, About: about[group], Table: r.table(group)}
		if plots := r.plots(group); len(plots) > 0 {
			file := "images/benchmarks-" + strings.ToLower(group) + ".svg"
			s.Images = append(s.Images, image{"Cost against rows", file})
			if err := os.WriteFile(filepath.Join(dir, file), []byte(draw(plots)), 0o644); err != nil {
				return err
			}
		}
		shown.Groups = append(shown.Groups, s)
	}
	var text strings.Builder
	if err := pageTemplate.Execute(&text, shown); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "benchmarks.md"), []byte(text.String()), 0o644)
}

func (r *Report) plots(group string) []Plot {
	var found []Plot
	for _, one := range r.Plots {
		if one.Group == group {
			found = append(found, one)
		}
	}
	return found
}

// table is that of a group in Markdown.
func (r *Report) table(group string) string {
	var text strings.Builder
	for i, cells := range r.lines(group) {
		for _, cell := range cells {
			text.WriteString("| " + strings.ReplaceAll(cell, "|", `\|`) + " ")
		}
		text.WriteString("|\n")
		if i == 0 {
			text.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
		}
	}
	return text.String()
}
