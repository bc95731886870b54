// Package hostile sends the reference server what nobody should.
package hostile
