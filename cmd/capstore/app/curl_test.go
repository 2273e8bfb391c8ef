package app_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain makes this program be curl when it is called so: the page's commands
// need it, and not every machine that can build and test capstore has it.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "curl" {
		os.Exit(m.Run())
	}
	if err := curl(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "curl stand-in:", err)
		os.Exit(2)
	}
}

// provideCurl puts the stand-in into the folder where the machine has no curl.
func provideCurl(t *testing.T, folder string) {
	t.Helper()
	if _, err := exec.LookPath("curl"); err == nil {
		return
	}
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(folder, "curl"))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// transfer is one command line of curl, as far as docs/api.md goes.
type transfer struct {
	method, url            string
	header                 http.Header
	body                   []byte
	headersTo, bodyTo, end string
}

// read takes the command line; an option that the page does not use is an error.
func (x *transfer) read(args []string) error {
	x.header = http.Header{}
	for len(args) > 0 {
		option := args[0]
		args = args[1:]
		switch {
		case option == "--silent" || option == "--show-error":
			continue
		case !strings.HasPrefix(option, "--"):
			x.url = option
			continue
		case len(args) == 0:
			return fmt.Errorf("%s wants a value", option)
		}
		if err := x.set(option, args[0]); err != nil {
			return err
		}
		args = args[1:]
	}
	return nil
}

func (x *transfer) set(option, value string) error {
	switch option {
	case "--request":
		x.method = value
	case "--header":
		name, content, _ := strings.Cut(value, ":")
		x.header.Set(name, strings.TrimSpace(content))
	case "--json":
		x.header.Set("Content-Type", "application/json")
		x.header.Set("Accept", "application/json")
		return x.send(value)
	case "--data-binary":
		return x.send(value)
	case "--dump-header":
		x.headersTo = value
	case "--output":
		x.bodyTo = value
	case "--write-out":
		x.end = value
	default:
		return fmt.Errorf("%s is not known", option)
	}
	return nil
}

// send makes a value, or the file named by @, the body.
func (x *transfer) send(value string) (err error) {
	x.body = []byte(value)
	if file, ok := strings.CutPrefix(value, "@"); ok {
		x.body, err = os.ReadFile(file)
	}
	return err
}

func curl(args []string, stdout io.Writer) error {
	var x transfer
	if err := x.read(args); err != nil {
		return err
	}
	fallback := http.MethodGet
	if x.body != nil {
		fallback = http.MethodPost
	}
	req, err := http.NewRequest(cmp.Or(x.method, fallback), x.url, bytes.NewReader(x.body))
	if err != nil {
		return err
	}
	req.Header = x.header
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if x.headersTo == "-" {
		fmt.Fprintf(stdout, "%s %s\r\n", res.Proto, res.Status)
		_ = res.Header.Write(stdout) // a pipe that closed shows in what it gave
	}
	body := stdout
	if x.bodyTo != "" {
		file, err := os.Create(x.bodyTo)
		if err != nil {
			return err
		}
		defer file.Close()
		body = file
	}
	if _, err := io.Copy(body, res.Body); err != nil {
		return err
	}
	_, err = io.WriteString(stdout, strings.NewReplacer("%{http_code}", fmt.Sprint(res.StatusCode), `\n`, "\n").Replace(x.end))
	return err
}
