import OpenAI from 'openai'
import { createOpenAiApp, memoryLiveSessions, type OpenAiAppOptions } from '../../../../adapters/http/index.ts'
import { Agent, type AgentOptions, defineTool, memorySessionStore } from '../../../../src/index.ts'
import { type Script, type ScriptedOptions, scripted } from '../../../../src/providers/scripted/index.ts'

/** A server with an agent `helper`, which keeps conversations too, and the official client of whoever is named. */
export function served(
  script: Script,
  options: Partial<AgentOptions> = {},
  others: Partial<OpenAiAppOptions> = {},
  played: ScriptedOptions = {},
) {
  const model = scripted(script, played)
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model, ...options }) })
  const app = createOpenAiApp({
    agents: { helper: { agent: () => new Agent({ model, ...options }), sessions } },
    authorize: (c) => /^Bearer key-of-(\w+)$/.exec(c.req.header('authorization') ?? '')?.[1],
    ...others,
  })
  const clientOf = (user: string) =>
    new OpenAI({
      apiKey: `key-of-${user}`,
      baseURL: 'http://127.0.0.1/v1',
      maxRetries: 0,
      fetch: async (url, init) => app.request(String(url), init as RequestInit),
    })
  return { app, sessions, client: clientOf('ada'), clientOf }
}

/** A tool that asks first, and what it has done. */
export function deployTool() {
  const done: unknown[] = []
  const deploy = defineTool({
    name: 'deploy',
    description: 'Puts a version into service.',
    parameters: { type: 'object', properties: { version: { type: 'string' } }, required: ['version'] },
    needsApproval: true,
    execute: ({ version }) => {
      done.push(version)
      return `Version ${String(version)} is in service.`
    },
  })
  return { deploy, done }
}
