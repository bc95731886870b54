// Package partnerkit opens an accounting backend to partner apps.
package partnerkit
