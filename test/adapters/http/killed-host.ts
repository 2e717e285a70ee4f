/** A Node host of sessions in files, to be killed: `node killed-host.ts <directory>` prints its port. */
import { createServer } from 'node:http'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { fileSessionStore, toNodeHandler } from '../../../adapters/node/index.ts'
import { defineTool } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'

const turns = 6
const note = defineTool({
  name: 'note',
  description: 'Notes.',
  parameters: { type: 'object', properties: { turn: { type: 'number' } } },
  idempotent: true,
  execute: ({ turn }) => `noted ${turn}`,
})
const model = scripted(
  ({ messages }) => {
    const turn = messages.filter(({ role }) => role === 'toolResult').length
    const text = ['turn ', `${turn} `, 'is ', 'on ', 'its ', 'way']
    return turn < turns ? { text, toolCalls: [{ id: `call-${turn}`, name: 'note', arguments: { turn } }] } : { text: ['all ', 'done'] }
  },
  { delayMs: 5 },
)
const sessions = memoryLiveSessions({ store: fileSessionStore(process.argv[2] ?? ''), agent: () => ({ model, tools: [note] }) })
await sessions.recover()
const server = createServer(toNodeHandler(createAgentApp({ sessions, authorize: 'loopbackOnly' }).fetch))
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  console.log(typeof address === 'object' && address !== null ? address.port : 0)
})
