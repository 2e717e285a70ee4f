import { serve } from '../../test/harness/serve.ts'
import { anyPage } from './model-server.ts'

/** What a server with resources and prompts answers, by method. */
const answers: Record<string, (params: { [key: string]: unknown }) => unknown> = {
  initialize: () => ({
    protocolVersion: '2025-06-18',
    capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
    serverInfo: { name: 'archive', version: '1' },
  }),
  'tools/list': () => ({ tools: [] }),
  'prompts/list': () => ({
    prompts: [
      {
        name: 'greet',
        description: 'Greets somebody',
        arguments: [{ name: 'who', description: 'A name', required: true }, { name: 'tone' }],
      },
      { name: 'summary', title: 'Sums up the archive' },
    ],
  }),
  'prompts/get': ({ arguments: args }) => {
    const { who, tone = 'kindly' } = Object(args)
    return { messages: [{ role: 'user', content: { type: 'text', text: `Greet ${who} ${tone}.` } }] }
  },
  'resources/list': () => ({
    resources: [
      { uri: 'note:///whales', name: 'whales', title: 'Notes on whales' },
      { uri: 'note:///walrus', name: 'walrus', title: 'Notes on the walrus' },
    ],
  }),
  'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'day:///{day}', name: 'A day' }] }),
  'resources/read': ({ uri }) => {
    if (uri === 'note:///lost') throw new Error('It is lost.')
    return { contents: [{ uri, text: `The text of ${uri}.` }] }
  },
  'completion/complete': ({ argument }) => {
    const { name, value } = Object(argument)
    const values = name === 'day' ? ['monday', 'tuesday'] : ['Ada', 'Ann']
    return { completion: { values: values.filter((each) => each.startsWith(String(value))) } }
  },
}

/** Serves two prompts, two resources and a template to every page of this machine, over Streamable HTTP. */
export async function serveResources() {
  const served = await serve(async (request) => {
    const headers = { ...anyPage, 'access-control-allow-methods': 'POST, DELETE', 'content-type': 'application/json' }
    if (request.method !== 'POST') return new Response(null, { status: request.method === 'OPTIONS' ? 204 : 405, headers })
    const { id, method, params }: { id?: number; method: string; params?: { [key: string]: unknown } } = await request.json()
    if (id === undefined) return new Response(null, { status: 202, headers })
    const answer = { jsonrpc: '2.0', id }
    try {
      return Response.json({ ...answer, result: answers[method]?.(params ?? {}) }, { headers })
    } catch (error) {
      return Response.json({ ...answer, error: { code: -32002, message: String(error) } }, { headers })
    }
  })
  return { url: `${served.url}/mcp`, [Symbol.asyncDispose]: () => served[Symbol.asyncDispose]() }
}
