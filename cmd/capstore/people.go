package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"capstore/cmd/capstore/app"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/identity"
)

type userCmd struct {
	Create userCreateCmd `cmd:"" help:"Make an account, and with --workspace a member."`
}

type userCreateCmd struct {
	Email         string `help:"Whose account it is." required:""`
	Name          string `help:"The person's name." required:""`
	Workspace     string `help:"Short name of a workspace to join." placeholder:"W"`
	Role          string `help:"viewer, member or admin of that workspace." default:"member" enum:"viewer,member,admin"`
	PasswordStdin bool   `help:"Read the password from standard input instead of making one."`
}

// Run makes the account. A password that was made here is all that standard
// output gets, so that a script can take it.
func (c *userCreateCmd) Run(env *environment) error {
	password := rand.Text()
	if c.PasswordStdin {
		line, err := io.ReadAll(io.LimitReader(env.stdin, 4<<10))
		if err != nil {
			return err
		}
		if password = strings.TrimRight(string(line), "\r\n"); password == "" {
			return fault.New(fault.Invalid, "no_password", "There is no password on standard input.").
				Do("Pipe it in, or leave --password-stdin out and get one made.")
		}
	}
	in := identity.NewUser{Email: c.Email, Name: c.Name, Password: password}
	return withStore(env, "user create", func(ctx context.Context, store *app.Store) error {
		people := identity.New(store.DB)
		user, err := c.create(ctx, people, in)
		if err != nil {
			return err
		}
		fmt.Fprintf(env.stderr, "%s can sign in as %s.\n", user.Name, user.Email)
		if !c.PasswordStdin {
			fmt.Fprintln(env.stdout, password)
		}
		return nil
	})
}

func (c *userCreateCmd) create(ctx context.Context, people *identity.Service, in identity.NewUser) (identity.User, error) {
	if c.Workspace == "" {
		return people.CreateUser(ctx, in)
	}
	return people.CreateMember(ctx, in, c.Workspace, capability.Role(c.Role))
}

type workspaceCmd struct {
	Create workspaceCreateCmd `cmd:"" help:"Make a workspace with its first admin."`
}

type workspaceCreateCmd struct {
	Workspace string `help:"Short name: the first part of the workspace's addresses, for good." required:"" placeholder:"W"`
	Name      string `help:"Name for people; the short name unless told."`
	Email     string `help:"The account that becomes its admin." required:""`
}

// Run makes the workspace.
func (c *workspaceCreateCmd) Run(env *environment) error {
	return withStore(env, "workspace create", func(ctx context.Context, store *app.Store) error {
		people := identity.New(store.DB)
		admin, err := people.UserByEmail(ctx, c.Email)
		if err != nil {
			return err
		}
		made, err := people.CreateWorkspace(ctx, admin.Subject, c.Workspace, c.Name)
		if err != nil {
			return err
		}
		fmt.Fprintf(env.stdout, "%s is at %s\n", made.Name, env.config.PublicURL().JoinPath(made.Workspace, "store"))
		return nil
	})
}

type tokenCmd struct {
	Create tokenCreateCmd `cmd:"" help:"Make a personal access token and print it alone."`
}

type tokenCreateCmd struct {
	Email     string `help:"Whom the token speaks for." required:""`
	Workspace string `help:"Short name of the one workspace that it acts in." required:"" placeholder:"W"`
	Scope     string `help:"read, write (read too) or agent (both, and the gateway)." default:"read" enum:"read,write,agent"`
	Expires   life   `help:"How long it lives: 30d, 12h." default:"30d"`
	Name      string `help:"What its owner knows it by." default:"command line"`
}

// Run makes the token. Standard output gets the credential and nothing else.
func (c *tokenCreateCmd) Run(env *environment) error {
	return withStore(env, "token create", func(ctx context.Context, store *app.Store) error {
		token, credential, err := identity.New(store.DB).IssueToken(ctx, c.Email, c.Workspace, identity.NewToken{
			Name: c.Name, Scope: capability.Scope(c.Scope), Life: time.Duration(c.Expires),
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(env.stderr, "The token has the scope %s in %s until %s, and is not shown again.\n",
			token.Scope, token.Workspace, token.ExpiresAt.Format(time.DateOnly))
		fmt.Fprintln(env.stdout, credential)
		return nil
	})
}

// life is a span of time that may be given in days, as 30d.
type life time.Duration

// UnmarshalText reads what a person writes on the command line.
func (l *life) UnmarshalText(text []byte) error {
	if days, ok := strings.CutSuffix(string(text), "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil && n > 0 {
			*l = life(time.Duration(n) * 24 * time.Hour)
			return nil
		}
	}
	span, err := time.ParseDuration(string(text))
	if err != nil || span <= 0 {
		return fmt.Errorf("%q is no span of time such as 30d or 12h", text)
	}
	*l = life(span)
	return nil
}

func (l life) String() string { return time.Duration(l).String() }
