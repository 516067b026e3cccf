// Package stemma calls Stemma's services: the generated stubs, with what a careful caller adds.
//
//	client, err := stemma.Dial(stemma.FromEnvironment())
//	made, err := client.Sessions.CreateSession(ctx, &conversationv1.CreateSessionRequest{Title: "Apples"})
//
// A request without a request_id gets one and keeps it through every retry, so a write happens once. What
// passes (a connection that breaks, a server that stops or has too much to do) is tried again for as long as
// the context allows, 30 seconds when it has no deadline. Refusals are *Error, and errors.Is knows their
// reasons. Respond, RespondInDraft, Attach and Watch go on after a cut where they were.
package stemma

import (
	"context"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	conversationv1 "stemma.example/client/gen/conversation/v1"
	draftv1 "stemma.example/client/gen/draft/v1"
)

// Options say where to call, and how. The addresses are host:port.
type Options struct {
	Conversation string
	// Of the draft service; empty, Client.Drafts is nil.
	Drafts string
	APIKey string
	// Of TLS; nil, the connection is plain.
	Credentials credentials.TransportCredentials
	// For a call whose context has no deadline; 0: 30 seconds.
	Timeout time.Duration
	Retries Retries
}

// FromEnvironment reads STEMMA_CONVERSATION, STEMMA_DRAFT and STEMMA_API_KEY; without them it is a server on this
// machine, as `make run` starts it.
func FromEnvironment() Options {
	return Options{
		Conversation: environment("STEMMA_CONVERSATION", "127.0.0.1:50051"),
		Drafts:       environment("STEMMA_DRAFT", "127.0.0.1:50052"),
		APIKey:       os.Getenv("STEMMA_API_KEY"),
	}
}

// Client has the services by name. Goroutines may share it.
type Client struct {
	Projects     conversationv1.ProjectServiceClient
	Sessions     conversationv1.SessionServiceClient
	Floors       conversationv1.FloorServiceClient
	Runs         conversationv1.RunServiceClient
	Contexts     conversationv1.ContextServiceClient
	State        conversationv1.StateServiceClient
	StagedWrites conversationv1.StagedWriteServiceClient
	Events       conversationv1.EventServiceClient
	Access       conversationv1.AccessServiceClient
	Audit        conversationv1.AuditServiceClient
	Admin        conversationv1.AdminServiceClient
	Drafts       draftv1.DraftServiceClient

	options     Options
	connections []*grpc.ClientConn
}

// Dial makes a client, which connects with the first call. Close it.
func Dial(options Options) (*Client, error) {
	if options.Timeout == 0 {
		options.Timeout = 30 * time.Second
	}
	options.Retries = options.Retries.orDefault()
	client := &Client{options: options}
	canon, err := client.dial(options.Conversation)
	if err != nil {
		return nil, err
	}
	client.Projects = conversationv1.NewProjectServiceClient(canon)
	client.Sessions = conversationv1.NewSessionServiceClient(canon)
	client.Floors = conversationv1.NewFloorServiceClient(canon)
	client.Runs = conversationv1.NewRunServiceClient(canon)
	client.Contexts = conversationv1.NewContextServiceClient(canon)
	client.State = conversationv1.NewStateServiceClient(canon)
	client.StagedWrites = conversationv1.NewStagedWriteServiceClient(canon)
	client.Events = conversationv1.NewEventServiceClient(canon)
	client.Access = conversationv1.NewAccessServiceClient(canon)
	client.Audit = conversationv1.NewAuditServiceClient(canon)
	client.Admin = conversationv1.NewAdminServiceClient(canon)
	if options.Drafts != "" {
		drafts, err := client.dial(options.Drafts)
		if err != nil {
			client.Close()
			return nil, err
		}
		client.Drafts = draftv1.NewDraftServiceClient(drafts)
	}
	return client, nil
}

// Close ends every call that is under way.
func (c *Client) Close() {
	for _, connection := range c.connections {
		connection.Close()
	}
}

func (c *Client) dial(address string) (*grpc.ClientConn, error) {
	security := grpc.WithInsecure()
	if c.options.Credentials != nil {
		security = grpc.WithTransportCredentials(c.options.Credentials)
	}
	// Back soon after a restart.
	back := backoff.Config{BaseDelay: 200 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second}
	connection, err := grpc.Dial(address, security,
		grpc.WithUnaryInterceptor(c.unary),
		grpc.WithStreamInterceptor(c.stream),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(16<<20)),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: back, MinConnectTimeout: 5 * time.Second}),
	)
	if err == nil {
		c.connections = append(c.connections, connection)
	}
	return connection, err
}

// unary adds to every call of a stub what the package promises.
func (c *Client) unary(ctx context.Context, method string, request, answer interface{}, connection *grpc.ClientConn,
	invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	if _, limited := ctx.Deadline(); !limited {
		limit, cancel := context.WithTimeout(ctx, c.options.Timeout)
		defer cancel()
		ctx = limit
	}
	request = WithRequestID(request.(proto.Message))
	for attempt := 0; ; attempt++ {
		err := invoke(c.keyed(ctx), method, request, answer, connection, options...)
		if err == nil {
			return nil
		}
		if refused := c.options.Retries.wait(ctx, attempt, ErrorOf(err)); refused != nil {
			return refused
		}
	}
}

func (c *Client) stream(ctx context.Context, description *grpc.StreamDesc, connection *grpc.ClientConn, method string,
	open grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
	return open(c.keyed(ctx), description, connection, method, options...)
}

func (c *Client) keyed(ctx context.Context) context.Context {
	if c.options.APIKey == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+c.options.APIKey)
}

func environment(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}
