// A server of the official SDK over stdio, with resources, templates and prompts. Its argument is a file in which it counts its starts.
import { appendFileSync, readFileSync } from 'node:fs'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import {
  CompleteRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'

const [log = '/dev/null'] = process.argv.slice(2)
appendFileSync(log, 'start\n')
const starts = () =>
  readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line === 'start').length
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const capabilities = { tools: {}, resources: { subscribe: true, listChanged: true }, prompts: {}, completions: {} }
const server = new Server({ name: 'resources', version: '1' }, { capabilities })
const resources = [
  { uri: 'mem:///notes', name: 'notes', title: 'Notes', description: 'What to remember', mimeType: 'text/plain', size: 5 },
  { uri: 'mem:///pixel.png', name: 'pixel.png', mimeType: 'image/png' },
  { uri: 'mem:///big', name: 'big' },
]
const contents = {
  'mem:///notes': { text: 'hello' },
  'mem:///pixel.png': { blob: pixel, mimeType: 'image/png' },
  'mem:///big': { text: 'x'.repeat(400_000) },
}
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [] }))
server.setRequestHandler(ListResourcesRequestSchema, ({ params }) => {
  const at = Number(params?.cursor ?? 0)
  return { resources: resources.slice(at, at + 1), ...(at + 1 < resources.length && { nextCursor: String(at + 1) }) }
})
server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
  resourceTemplates: [{ uriTemplate: 'mem:///{name}', name: 'by name' }],
}))
server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => {
  if (uri === 'mem:///exit' || (uri === 'mem:///exitOnce' && starts() === 1)) process.exit(1)
  if (uri === 'mem:///hang') return new Promise(() => undefined)
  const found = uri === 'mem:///exitOnce' ? { text: 'back' } : contents[uri]
  if (found === undefined) throw new Error(`No resource ${uri}`)
  return { contents: [{ uri, ...found }] }
})
server.setRequestHandler(SubscribeRequestSchema, ({ params: { uri } }) => {
  appendFileSync(log, `subscribe ${uri}\n`)
  setImmediate(() => server.sendResourceUpdated({ uri }))
  return {}
})
server.setRequestHandler(UnsubscribeRequestSchema, ({ params: { uri } }) => {
  appendFileSync(log, `unsubscribe ${uri}\n`)
  setImmediate(() => server.sendResourceListChanged())
  return {}
})
server.setRequestHandler(ListPromptsRequestSchema, () => ({
  prompts: [{ name: 'greet', description: 'Greets', arguments: [{ name: 'who', required: true }, { name: 'tone' }] }, { name: 'picture' }],
}))
server.setRequestHandler(GetPromptRequestSchema, ({ params: { name, arguments: args = {} } }) => {
  if (name === 'picture')
    return {
      messages: [
        { role: 'user', content: { type: 'image', data: pixel, mimeType: 'image/png' } },
        { role: 'assistant', content: { type: 'text', text: 'A pixel.' } },
        { role: 'user', content: { type: 'resource', resource: { uri: 'mem:///notes', text: 'hello' } } },
      ],
    }
  return { messages: [{ role: 'user', content: { type: 'text', text: `Greet ${args.who}${args.tone ? `, ${args.tone}` : ''}` } }] }
})
server.setRequestHandler(CompleteRequestSchema, ({ params: { argument } }) => ({
  completion: { values: ['notes', 'pixel.png', 'Ann'].filter((value) => value.startsWith(argument.value)) },
}))
await server.connect(new StdioServerTransport())
