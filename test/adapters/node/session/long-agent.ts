import { fileSessionStore } from '../../../../adapters/node/session/file-session-store.ts'
import { resumeAgent } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'

// Writes a session of 80 MB, or goes on with it.
const [root = '', task] = process.argv.slice(2)
const store = fileSessionStore(root)

function said(at: number) {
  const content = [{ type: 'text' as const, text: `${at}`.padEnd(40_000, '.') }]
  return {
    loopId: 'long.1',
    turnIndex: 0,
    entry: { type: 'input' as const, message: { role: 'user' as const, id: `m${at}`, timestamp: 1, content } },
  }
}

if (task === 'write') {
  const writer = await store.open('long', { agentId: 'a' })
  await writer.append([{ entry: { type: 'sessionStart', agentId: 'a', formation: { type: 'firstLoop', at: 1 }, scope: 'persistent' } }])
  for (let at = 0; at < 2000; at += 100) await writer.append(Array.from({ length: 100 }, (_, index) => said(at + index)))
  await writer.close()
} else {
  const agent = await resumeAgent(store, 'long', { model: scripted([{ text: 'Yes.' }]) })
  const { length } = agent.messages
  const { status } = await agent.prompt('Go on?').result
  console.log(`${length} messages, then ${status}`)
}
