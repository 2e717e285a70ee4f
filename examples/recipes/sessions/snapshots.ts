import { Agent } from 'phi-core'
import { exploreBranches } from 'phi-core/agents'
import { parseSnapshot } from 'phi-core/session'
import { scripted } from 'phi-core/testing'

export async function branched(write: (line: string) => void): Promise<void> {
  // A scripted model; no API call is made. It repeats the last message and counts all messages.
  const model = scripted(({ messages }) => ({ text: `${messages.length}: ${JSON.stringify(messages.at(-1)?.content)}` }))
  const agent = new Agent({ model, sessionId: 's1', configId: 'demo' })
  await agent.prompt('Plan a trip.').result

  // In another process: the snapshot is text, and contains no model or key.
  const text = JSON.stringify(agent.checkpoint())
  const restored = new Agent({ model })
  restored.restore(parseSnapshot(text))
  write(`${restored.sessionId}, ${restored.messages.length} messages`)

  const branches = exploreBranches(restored, [
    { tag: 'sea', prompt: 'To the sea.' },
    { tag: 'hills', prompt: 'To the hills.', thinking: 'high' },
  ])
  for (const { tag, run } of branches) {
    const { loopId } = await run.result
    write(`${tag}: ${loopId}, ${await run.text()}`)
  }
  // Continue with one of them.
  const [sea] = branches
  if (sea) restored.restore(sea.agent.checkpoint())
  write(await restored.send('By train?').text())
}
