package main

import (
	"errors"
	"html"
	"net/url"
	"regexp"
)

var (
	aForm     = regexp.MustCompile(`(?s)<form\b([^>]*)>(.*?)</form>`)
	anInput   = regexp.MustCompile(`<(?:input|button|select)\b([^>]*)>`)
	attribute = regexp.MustCompile(`\b([a-z]+)="([^"]*)"`)
)

// form is one of a page.
type form struct {
	action string
	hidden url.Values
}

// findForm returns the form of a page that has a certain field.
func findForm(page, field string) (form, error) {
	for _, found := range aForm.FindAllStringSubmatch(page, -1) {
		f, has := form{attributes(found[1])["action"], url.Values{}}, false
		for _, input := range anInput.FindAllStringSubmatch(found[2], -1) {
			a := attributes(input[1])
			has = has || a["name"] == field
			if a["type"] == "hidden" {
				f.hidden.Add(a["name"], a["value"])
			}
		}
		if has {
			return f, nil
		}
	}
	return form{}, errors.New("the page has no form with " + field)
}

func attributes(tag string) map[string]string {
	all := make(map[string]string)
	for _, match := range attribute.FindAllStringSubmatch(tag, -1) {
		all[match[1]] = html.UnescapeString(match[2])
	}
	return all
}
