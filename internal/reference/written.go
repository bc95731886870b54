package reference

import (
	"html/template"
	"regexp"
	"strings"
)

// A text of a document is CommonMark. The pages show the part of it that descriptions are
// written in: paragraphs, lists, code, bold words and links. Anything else stays as it is
// written, and nothing of it is HTML.

// marks are code, bold words and a link in a line whose HTML is escaped.
var marks = regexp.MustCompile("`([^`]+)`" + `|\*\*([^*]+)\*\*|\[([^\[\]]+)\]\(([^()\s]+)\)`)

// inline returns one line, or the text of a cell.
func (p *Pages) inline(text string) template.HTML {
	return template.HTML(marks.ReplaceAllStringFunc(template.HTMLEscapeString(text), func(mark string) string { //nolint:gosec // what is not a mark is escaped
		parts := marks.FindStringSubmatch(mark)
		switch {
		case parts[1] != "":
			return "<code>" + parts[1] + "</code>"
		case parts[2] != "":
			return "<strong>" + parts[2] + "</strong>"
		}
		if href := p.href(parts[4]); href != "" {
			return `<a href="` + href + `">` + parts[3] + "</a>"
		}
		return parts[3]
	}))
}

// href returns where a link of a text leads, escaped as it was: a page of the web, or a shape
// of the document; empty for any other address.
func (p *Pages) href(escaped string) string {
	if name, ok := strings.CutPrefix(escaped, "#/components/schemas/"); ok {
		return template.HTMLEscapeString(p.places[name])
	}
	if strings.HasPrefix(escaped, "https://") || strings.HasPrefix(escaped, "http://") {
		return escaped
	}
	return ""
}

// written returns a text with its paragraphs and lists.
func (p *Pages) written(text string) template.HTML {
	var out strings.Builder
	list := false
	for block := range strings.SplitSeq(strings.ReplaceAll(text, "\n- ", "\n\n- "), "\n\n") {
		block = strings.Join(strings.Fields(block), " ")
		item, isItem := strings.CutPrefix(block, "- ")
		if isItem != list {
			out.WriteString(map[bool]string{true: "<ul>", false: "</ul>"}[isItem])
			list = isItem
		}
		switch {
		case isItem:
			out.WriteString("<li>" + string(p.inline(item)) + "</li>")
		case block != "":
			out.WriteString("<p>" + string(p.inline(block)) + "</p>")
		}
	}
	if list {
		out.WriteString("</ul>")
	}
	return template.HTML(out.String()) //nolint:gosec // inline escaped the text
}

// breakable returns a path that may break at its slashes, and nowhere else.
func breakable(path string) template.HTML {
	return template.HTML(strings.TrimPrefix(strings.ReplaceAll(template.HTMLEscapeString(path), "/", "<wbr>/"), "<wbr>")) //nolint:gosec // it is escaped
}

// foldable returns text whose long names go on after an underscore or a colon where a line is
// too short for them.
func foldable(text string) template.HTML {
	return template.HTML(strings.NewReplacer("_", "_<wbr>", ":", ":<wbr>").Replace(template.HTMLEscapeString(text))) //nolint:gosec // it is escaped
}
