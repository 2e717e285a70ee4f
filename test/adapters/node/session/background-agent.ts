// An agent that waits for a sub-agent in the background, to be killed: argv directory, session. Says `waiting` when both go on.
import { writeSync } from 'node:fs'
import { fileSessionStore } from '../../../../adapters/node/session/file-session-store.ts'
import { SubAgentTool } from '../../../../src/agents.ts'
import { Agent } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { tool } from '../../../support/play.ts'

const [directory = '', sessionId = ''] = process.argv.slice(2)
const session = fileSessionStore(directory)
const going = new Set<string>()
const goesOn = (who: string) => {
  going.add(who)
  if (going.size === 2) writeSync(1, 'waiting\n')
}

const hang = tool('hang', () => {
  goesOn('child')
  return new Promise(() => setInterval(() => undefined, 60_000))
})
const child = scripted([{ toolCalls: [{ id: 'x', name: 'hang', arguments: {} }] }])
const helper = new SubAgentTool({ name: 'helper', description: 'Helps.', model: child, tools: [hang], background: true, session })
const model = scripted([{ toolCalls: [{ id: 'p', name: 'helper', arguments: { task: 'Look.' } }] }, { text: 'I wait.' }])
const agent = new Agent({ model, tools: [helper], session, sessionId })
agent.subscribe((event) => {
  if (event.type === 'turnEnd' && event.turnIndex === 1) goesOn('parent')
})
await agent.prompt('go').result
