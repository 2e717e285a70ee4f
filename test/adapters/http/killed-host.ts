/**
 * A Node host of sessions in files, to be killed: `node killed-host.ts <directory> [<slot> <slots>]` says `recovering`, then its port. Of several over one
 * directory each has the sessions whose number is in its slot. SIGTERM drains it.
 */
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { fileSessionStore, toNodeHandler } from '../../../adapters/node/index.ts'
import { defineTool, textOf } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'

const [directory = '', slot = '0', slots = '1'] = process.argv.slice(2)
const turns = 6
const parameters = { type: 'object', properties: { turn: { type: 'number' } } } as const
const note = defineTool({ name: 'note', description: 'Notes.', parameters, idempotent: true, execute: ({ turn }) => `noted ${turn}` })

/** Leaves a trace of each time it is run. */
const payFor = (sessionId: string) =>
  defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters,
    execute: ({ turn }) => {
      appendFileSync(`${directory}.paid`, `${sessionId} ${turn}\n`)
      return `paid ${turn}`
    },
  })

const model = scripted(
  ({ messages }) => {
    const turn = messages.filter(({ role }) => role === 'toolResult').length
    const [prompt] = messages
    const name = prompt?.role === 'user' && textOf(prompt.content) === 'Pay.' ? 'pay' : 'note'
    const text = ['turn ', `${turn} `, 'is ', 'on ', 'its ', 'way']
    return turn < turns ? { text, toolCalls: [{ id: `call-${turn}`, name, arguments: { turn } }] } : { text: ['all ', 'done'] }
  },
  { delayMs: 5 },
)
const sessions = memoryLiveSessions({
  store: fileSessionStore(directory),
  agent: ({ sessionId }) => ({ model, tools: [note, payFor(sessionId)] }),
  logger: { warn: (code, details) => console.error(code, details) },
})
console.log('recovering')
await sessions.recover({ isMine: ({ sessionId }) => Number(sessionId.slice(1)) % Number(slots) === Number(slot) })
const server = createServer(toNodeHandler(createAgentApp({ sessions, authorize: 'loopbackOnly' }).fetch))
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  console.log(typeof address === 'object' && address !== null ? address.port : 0)
})
process.on('SIGTERM', async () => {
  console.log('draining')
  await sessions.drain({ deadlineMs: 10_000 })
  process.exit(0)
})
