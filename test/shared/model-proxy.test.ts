import { describe, expect, it } from 'vitest'
import { createModelProxy, type Upstream } from '../../adapters/http/index.ts'
import type { CallReport } from '../../adapters/http/proxy/relayed-call.ts'
import { Agent } from '../../src/index.ts'
import { baseUrl } from '../harness/env.ts'
import { addTool, eventsOf, models, ofType, type Wire, wires } from '../harness/fixture-model.ts'

const apiKey = 'a-key-of-the-server'

/** The fixture server as an upstream, at a base of its own. */
const upstreams: Record<Wire, (url: string) => Upstream> = {
  anthropic: (url) => ({ api: 'anthropicMessages', baseUrl: url, apiKey }),
  openai: (url) => ({ api: 'openAiCompletions', baseUrl: `${url}/v1`, apiKey }),
  'openai-responses': (url) => ({ api: 'openAiResponses', baseUrl: `${url}/v1`, apiKey }),
  azure: (url) => ({ api: 'azureOpenAiResponses', baseUrl: url, apiKey }),
  google: (url) => ({ api: 'googleGenerativeAi', baseUrl: url, apiKey }),
  vertex: (url) => ({ api: 'googleVertex', baseUrl: `${url}/v1/projects/p/locations/global/publishers/google/models`, apiKey }),
  bedrock: (url) => ({ api: 'bedrockConverseStream', baseUrl: url, apiKey: 'AKIAFIXTURE:fixture-secret' }),
}

/** A model behind a proxy in this process, whose service is the fixture server. */
function proxied(wire: Wire, scenario: string, allowed = '*') {
  const base = ['', wire, scenario, crypto.randomUUID()].join('/')
  const reports: CallReport[] = []
  const app = createModelProxy({
    upstreams: { up: upstreams[wire](baseUrl() + base) },
    authorize: () => 'somebody',
    allow: { up: [allowed] },
    budget: { windows: [{ ms: 3_600_000, requests: 10, tokens: 10_000 }] },
    onCall: (report) => reports.push(report),
  })
  const send = async (url: RequestInfo | URL, init?: RequestInit): Promise<Response> => app.fetch(new Request(url, init))
  const model = models[wire]('http://proxy.example/up', { fetch: send, apiKey: 'the-token-of-a-user' })
  const idle = async (): Promise<string> => (await fetch(`${baseUrl()}/idle${base}`)).text()
  return { model, reports, idle }
}

describe('model proxy', () => {
  for (const wire of wires) {
    it(`runs a loop with a tool and reports usage: ${wire}`, async () => {
      const { model, reports, idle } = proxied(wire, 'tool')
      const { tool, executions } = addTool()
      const agent = new Agent({ model, tools: [tool] })
      expect(await agent.prompt('What is 2 + 3?').text()).toBe('The tool said: sum 5.')
      expect(executions()).toBe(1)
      await idle()
      const answers = agent.messages.filter((message) => message.role === 'assistant')
      expect(reports.map(({ usage, ending }) => ({ usage, ending }))).toEqual(answers.map(({ usage }) => ({ usage, ending: 'whole' })))
    })

    it(`cancels the provider call on an abort: ${wire}`, async () => {
      const { model, reports, idle } = proxied(wire, 'hang')
      const run = new Agent({ model }).prompt('Hi')
      const events = await eventsOf(run, (event) => {
        if (event.type === 'messageUpdate') run.abort()
      })
      expect(ofType(events, 'agentEnd').map(({ status }) => status)).toEqual(['aborted'])
      await idle()
      expect(reports.map(({ ending }) => ending)).toEqual(['left'])
    })

    it(`rejects a disallowed model with a message: ${wire}`, async () => {
      const { model, reports } = proxied(wire, 'text', 'some-other-model')
      const { error } = await new Agent({ model, retry: false }).prompt('Hi').result
      expect(error).toMatchObject({ code: 'api', message: expect.stringContaining(`up does not allow "${model.config.id}"`) })
      expect(reports).toEqual([])
    })
  }
})
