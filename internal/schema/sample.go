package schema

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Mismatch compares a sample with a schema by the keywords type, enum, const, required,
// properties, additionalProperties, items and allOf, and describes the first difference;
// empty if there is none. It is not a validator: it does not follow references, and accepts
// what other keywords would not. It finds the mistakes that people make in samples.
func Mismatch(schema, sample any) string { return mismatch(schema, sample, "") }

func mismatch(schema, sample any, place string) string {
	if schema == false {
		return "the sample has " + place + ", which the schema does not allow"
	}
	members, ok := schema.(map[string]any)
	if !ok {
		return ""
	}
	if problem := wrongType(members["type"], sample, place); problem != "" {
		return problem
	}
	if constant, ok := members["const"]; ok && !reflect.DeepEqual(constant, sample) {
		return "the sample" + at(place) + " is not the constant of the schema"
	}
	if enum, ok := members["enum"].([]any); ok && !slices.ContainsFunc(enum, func(one any) bool { return reflect.DeepEqual(one, sample) }) {
		return "the sample" + at(place) + " is none of the values that the schema allows"
	}
	all, _ := members["allOf"].([]any)
	for _, one := range all {
		if problem := mismatch(one, sample, place); problem != "" {
			return problem
		}
	}
	switch sample := sample.(type) {
	case map[string]any:
		return wrongMembers(members, sample, place)
	case []any:
		if _, ok := members["prefixItems"]; ok {
			return ""
		}
		for i, one := range sample {
			if problem := mismatch(members["items"], one, join(place, strconv.Itoa(i))); problem != "" {
				return problem
			}
		}
	}
	return ""
}

// wrongMembers compares the members of an object.
func wrongMembers(schema, sample map[string]any, place string) string {
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if name, ok := name.(string); ok {
			if _, ok := sample[name]; !ok {
				return "the sample lacks " + join(place, name) + ", which the schema requires"
			}
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range sortedKeys(sample) {
		property, ok := properties[name]
		if _, hasPatterns := schema["patternProperties"]; !ok && !hasPatterns {
			property = schema["additionalProperties"]
		}
		if problem := mismatch(property, sample[name], join(place, name)); problem != "" {
			return problem
		}
	}
	return ""
}

// wrongType compares the type of a sample with the types that a schema allows.
func wrongType(types, sample any, place string) string {
	allowed := []any{types}
	switch list := types.(type) {
	case nil:
		return ""
	case []any:
		allowed = list
	}
	names := make([]string, len(allowed))
	for i, one := range allowed {
		name, _ := one.(string)
		if !slices.Contains([]string{"null", "boolean", "object", "array", "number", "integer", "string"}, name) {
			return fmt.Sprintf("the schema%s has the unknown type %v", at(place), one)
		}
		names[i] = name
	}
	is := typeOf(sample)
	if slices.Contains(names, is) || is == "integer" && slices.Contains(names, "number") {
		return ""
	}
	return fmt.Sprintf("the sample%s has the type %s; the schema allows %s", at(place), is, strings.Join(names, " and "))
}

func typeOf(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if value == math.Trunc(value) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// join returns the place of a member, such as lines.0.amount.
func join(place, name string) string {
	if place == "" {
		return name
	}
	return place + "." + name
}

// at names the place of a part of a sample; empty for the sample as a whole.
func at(place string) string {
	if place == "" {
		return ""
	}
	return " at " + place
}
