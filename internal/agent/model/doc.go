// Package model speaks to the models that an agent thinks with: Anthropic's
// Messages and the Chat Completions that OpenAI and its many likenesses serve,
// both by the official SDKs and always as a stream. It is the only package
// that knows either protocol. A conversation goes in and an answer with the
// calls that the model asks for comes out; nothing is called here.
package model
