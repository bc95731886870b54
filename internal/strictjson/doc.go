// Package strictjson decodes JSON that two parsers could not read differently: it rejects
// duplicate members, names that differ only in case, trailing data, and strings that are not
// UTF-8 or contain a NUL. Its error names all problems of a body by their paths.
//
// encoding/json/v2 rejects most of this, but stops at the first problem and is not stable yet.
package strictjson
