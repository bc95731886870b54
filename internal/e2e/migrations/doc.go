// Package migrations checks that other tools can apply our migrations.
package migrations
