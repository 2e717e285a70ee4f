// The agent that a session is taken over from: argv directory, session. Says `turn` after each tool call, and at the end what became of its run.
import { writeSync } from 'node:fs'
import { fileSessionStore } from '../../../../adapters/node/session/file-session-store.ts'
import { Agent } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { tool } from '../../../support/play.ts'

const [directory = '', sessionId = ''] = process.argv.slice(2)

let calls = 0
const model = scripted(() => ({ toolCalls: [{ id: `old${calls++}`, name: 'work', arguments: {} }] }))
const work = tool('work', () => {
  writeSync(1, 'turn\n')
  return 'done'
})
const limits = { maxTurns: 100_000, maxTotalTokens: Number.POSITIVE_INFINITY }
const agent = new Agent({ model, tools: [work], session: fileSessionStore(directory), sessionId, limits })
let ends = 0
agent.subscribe(({ type }) => {
  if (type === 'agentEnd') ends += 1
})
const { status, error } = await agent.prompt('Work until somebody takes over.').result
await agent.close()
writeSync(1, `${JSON.stringify({ status, code: error?.code, cause: error?.cause?.code, ends, messages: agent.messages.length })}\n`)
