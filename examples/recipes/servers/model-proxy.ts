import { callerToken, createModelProxy } from 'phi-core/http'

/** A Hono app that adds the keys of this server. `users` maps tokens to user names. Serve its `fetch`, or mount it. */
export function modelProxy(users: ReadonlyMap<string, string>, keys: { anthropic: string; openai: string }) {
  return createModelProxy({
    upstreams: {
      anthropic: { api: 'anthropicMessages', apiKey: keys.anthropic },
      openai: { api: 'openAiResponses', apiKey: keys.openai },
    },
    authorize: (c) => users.get(callerToken(c) ?? ''),
    allow: { anthropic: ['claude-sonnet-*', 'claude-haiku-*'], openai: ['gpt-6-mini'] },
    budget: {
      windows: [
        { ms: 60_000, requests: 20 },
        { ms: 86_400_000, tokens: 200_000 },
      ],
    },
  })
}
