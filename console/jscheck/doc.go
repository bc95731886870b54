// Package jscheck checks uploaded functions for the console: a function is an ES module
// that exports a handler, under the name handler or as the default export.
//
// A source is parsed by esbuild and never run. Syntax errors, early errors of modules,
// TypeScript and JSX are rejected. Imports are not followed, so "export * from" exports
// no handler. An export that is a constant, such as "export default 5", is not a handler.
// The value of any other export is known when the function runs, so it is accepted.
//
// Parsers recurse, and some of their steps take time that grows with the square of the
// source. A hostile source of [console.MaxFunctionSource] bytes keeps a parser busy for
// more than ten seconds, another takes almost half a gigabyte of stack. A [Checker] therefore parses each
// source in a process of its own with at most two seconds of processor time, 128 MiB of memory
// and 32 MiB of stack. On systems other than Linux and macOS, the time on the clock is limited
// instead. The process is usually the host's own program:
//
//	func main() {
//		if len(os.Args) == 2 && os.Args[1] == "check-function" {
//			if err := jscheck.Main(os.Stdin, os.Stdout); err != nil {
//				log.Fatal(err)
//			}
//			return
//		}
//		program, err := os.Executable()
//		// …
//		checker, err := jscheck.New(jscheck.Config{Command: []string{program, "check-function"}})
//		// … partnerkit.Config{Console: console.Options{FunctionChecker: checker}}
//	}
//
// [Check] parses in the calling process. It is for hosts that trust their developers.
package jscheck
