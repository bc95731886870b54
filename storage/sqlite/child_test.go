package sqlite_test

import "testing"

func child(*testing.M) bool { return false }
