// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A small client on an independent Varlink library: asks any service, checks what it says of itself.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/varlink/go/varlink"
	"github.com/varlink/go/varlink/idl"
)

const usage = `query [-more] [-timeout D] ADDRESS [METHOD [PARAMETERS]]

ADDRESS is "unix:PATH". Without METHOD: calls GetInfo, gets the description of every interface,
parses it, and prints one JSON object with what it found. With METHOD: calls it with the JSON object
PARAMETERS and prints the parameters of each reply as a line of JSON.
Exit status: 0 reply, 1 failed, 2 usage, 3 the service answered with an error (its name and
parameters are printed as {"error": …, "parameters": …}).
`

type description struct {
	Name    string   `json:"name"`
	Methods []string `json:"methods"`
	Types   []string `json:"types"`
	Errors  []string `json:"errors"`
}

type info struct {
	Vendor     string        `json:"vendor"`
	Product    string        `json:"product"`
	Version    string        `json:"version"`
	URL        string        `json:"url"`
	Interfaces []description `json:"interfaces"`
}

func fail(format string, values ...interface{}) {
	fmt.Fprintf(os.Stderr, "query: "+format+"\n", values...)
	os.Exit(1)
}

func print(value interface{}) {
	text, err := json.Marshal(value)
	if err != nil {
		fail("%v", err)
	}
	fmt.Println(string(text))
}

func describe(ctx context.Context, c *varlink.Connection, name string) description {
	text, err := c.GetInterfaceDescription(ctx, name)
	if err != nil {
		fail("GetInterfaceDescription %s: %v", name, err)
	}
	// The specification has capitals in the names of interfaces, this library's parser has not.
	if !strings.Contains(text, "\ninterface "+name+"\n") {
		fail("%s describes itself as something else", name)
	}
	lower := strings.ToLower(name)
	parsed, err := idl.New(strings.Replace(text, "\ninterface "+name+"\n", "\ninterface "+lower+"\n", 1))
	if err != nil {
		fail("%s does not parse: %v", name, err)
	}
	if parsed.Name != lower {
		fail("%s was read as %s", name, parsed.Name)
	}
	d := description{Name: name, Methods: []string{}, Types: []string{}, Errors: []string{}}
	for _, m := range parsed.Methods {
		d.Methods = append(d.Methods, m.Name)
	}
	for _, t := range parsed.Aliases {
		d.Types = append(d.Types, t.Name)
	}
	for _, e := range parsed.Errors {
		d.Errors = append(d.Errors, e.Name)
	}
	return d
}

func tell(ctx context.Context, c *varlink.Connection) {
	var i info
	var names []string

	if err := c.GetInfo(ctx, &i.Vendor, &i.Product, &i.Version, &i.URL, &names); err != nil {
		fail("GetInfo: %v", err)
	}
	for _, name := range names {
		i.Interfaces = append(i.Interfaces, describe(ctx, c, name))
	}
	print(i)
}

func call(ctx context.Context, c *varlink.Connection, method string, parameters json.RawMessage, flags uint64) {
	receive, err := c.Send(ctx, method, parameters, flags)
	if err != nil {
		fail("%s: %v", method, err)
	}
	for {
		var reply json.RawMessage

		replyFlags, err := receive(ctx, &reply)
		switch e := err.(type) {
		case nil:
		case *varlink.Error:
			print(map[string]interface{}{"error": e.Name, "parameters": e.Parameters})
			os.Exit(3)
		case *varlink.InterfaceNotFound, *varlink.MethodNotFound, *varlink.MethodNotImplemented,
			*varlink.InvalidParameter:
			print(map[string]interface{}{"error": e.Error(), "parameters": e})
			os.Exit(3)
		default:
			fail("%s: %v", method, err)
		}
		fmt.Println(string(reply))
		if replyFlags&varlink.Continues == 0 {
			return
		}
		if flags&varlink.More == 0 {
			fail("%s: more replies than asked for", method)
		}
	}
}

func main() {
	more := flag.Bool("more", false, "ask for several replies")
	timeout := flag.Duration("timeout", 30*time.Second, "give up after this long")
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flag.Parse()
	if flag.NArg() < 1 || flag.NArg() > 3 {
		flag.Usage()
		os.Exit(2)
	}

	ctx, cancel := context.WithTimeout(context.Background(), *timeout)
	defer cancel()
	c, err := varlink.NewConnection(ctx, flag.Arg(0))
	if err != nil {
		fail("%v", err)
	}
	defer c.Close()

	if flag.NArg() == 1 {
		tell(ctx, c)
		return
	}
	parameters := json.RawMessage("{}")
	if flag.NArg() == 3 {
		parameters = json.RawMessage(flag.Arg(2))
	}
	flags := uint64(0)
	if *more {
		flags |= varlink.More
	}
	call(ctx, c, flag.Arg(1), parameters, flags)
}
