// Package fresh proves that the README's commands work where only Go, git and curl are
// installed, and that builds of the reference server can be reproduced.
package fresh
