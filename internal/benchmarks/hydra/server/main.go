// Command server is Ory Hydra, built from its module:
//
//	go build -o hydra .
package main

import (
	"os"

	"github.com/ory/hydra/v2/cmd"
)

func main() {
	if err := cmd.NewRootCmd(nil, nil, nil).Execute(); err != nil {
		os.Exit(1)
	}
}
