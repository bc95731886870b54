package client

import (
	"net/http"
	"time"
)

// ParseError is parseError.
func ParseError(status int, text []byte) *Error { return parseError(status, text) }

// Pause is pause.
func Pause(n int, res *http.Response) time.Duration { return pause(n, res) }

// LongestWait is longestWait.
const LongestWait = longestWait
