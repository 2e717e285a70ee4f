import { Agent, defineTool, memorySessionStore, resumeAgent } from 'phi-core'
import { parseSession } from 'phi-core/session'
import { scripted } from 'phi-core/testing'

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  parameters: { type: 'object' },
  needsApproval: true,
  execute: () => 'paid',
})

/** Moves a session with a pending approval from one store to another, as text. Models are scripted. */
export async function handOver(write: (line: string) => void): Promise<void> {
  const [here, there] = [memorySessionStore(), memorySessionStore()]
  const model = scripted([{ toolCalls: [{ name: 'pay', arguments: {} }] }])
  const agent = new Agent({ model, tools: [pay], session: here, sessionId: 's1', approvalTimeoutMs: 1 })
  write((await agent.prompt('Pay.').result).status)
  await agent.close()

  const text = JSON.stringify(await here.load('s1'))
  await there.save(parseSession(text))
  await here.delete('s1')

  const next = await resumeAgent(there, 's1', { model: scripted([{ text: 'It is paid.' }]), tools: [pay] })
  write(`pending calls: ${next.pendingApprovals().length}`)
  const run = next.continueLoop()
  for await (const event of run) if (event.type === 'approvalRequested') run.approve(event)
  write(await run.text())
}
