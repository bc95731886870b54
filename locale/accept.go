package locale

import (
	"slices"
	"strconv"
	"strings"
)

// How much of a header is read: browsers send a handful of ranges.
const (
	maxRanges = 32
	maxHeader = 1024
)

// preference is a range of an Accept-Language header (RFC 9110 12.5.4).
type preference struct {
	tag     string // canonical; * is any language
	quality float64
}

// accepted returns the offered language that a header prefers, and the first one when it
// accepts none of them.
func accepted(header, offered []string) string {
	all := preferences(strings.Join(header, ","))
	rest := slices.DeleteFunc(slices.Clone(offered), func(tag string) bool { return isRefused(tag, all) })
	for _, one := range all {
		if one.quality == 0 {
			break // sorted: only refusals follow
		}
		if one.tag == "*" {
			if len(rest) > 0 {
				return rest[0]
			}
			continue
		}
		if found := match(one.tag, rest); found != "" {
			return found
		}
	}
	return offered[0]
}

// preferences reads the ranges of a header, best first. What cannot be read is left out.
func preferences(header string) []preference {
	if len(header) > maxHeader {
		header = header[:maxHeader]
	}
	var all []preference
	for item := range strings.SplitSeq(header, ",") {
		tag, parameters, _ := strings.Cut(item, ";")
		tag = canonical(strings.TrimSpace(tag))
		quality, ok := readQuality(parameters)
		if ok && len(all) < maxRanges && (tag == "*" || tagForm.MatchString(tag)) {
			all = append(all, preference{tag, quality})
		}
	}
	slices.SortStableFunc(all, func(a, b preference) int {
		switch {
		case a.quality > b.quality:
			return -1
		case a.quality < b.quality:
			return 1
		}
		return 0
	})
	return all
}

// readQuality reads "q=0.8"; without a parameter it is 1.
func readQuality(parameters string) (float64, bool) {
	name, value, ok := strings.Cut(strings.TrimSpace(parameters), "=")
	if !ok {
		return 1, name == ""
	}
	if !strings.EqualFold(strings.TrimSpace(name), "q") || strings.Trim(value, " 0123456789.") != "" {
		return 0, false
	}
	quality, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	return quality, err == nil && quality <= 1
}

// match returns the offered language that fits a tag: the same one, the one with fewer
// parts (de for de-AT), or the first with more (de-AT for de).
func match(tag string, offered []string) string {
	for _, candidate := range broader(canonical(tag)) {
		if slices.Contains(offered, candidate) {
			return candidate
		}
	}
	for _, one := range offered {
		if slices.Contains(broader(one), canonical(tag)) {
			return one
		}
	}
	return ""
}

// isRefused reports whether the closest range of a language, itself or a broader one, has
// the quality 0.
func isRefused(tag string, all []preference) bool {
	for _, candidate := range broader(tag) {
		for _, one := range all {
			if one.tag == candidate {
				return one.quality == 0
			}
		}
	}
	return false
}
