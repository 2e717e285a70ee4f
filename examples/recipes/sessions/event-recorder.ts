import { Agent, memorySessionStore } from 'phi-core'
import { exploreBranches } from 'phi-core/agents'
import { EventRecorder } from 'phi-core/rust'
import { childrenOf, loopChainTo, rootLoops, totalUsage } from 'phi-core/session'
import { scripted } from 'phi-core/testing'

/** Builds a session's tree only from events, and prints it. The model is scripted. */
export async function tree(write: (line: string) => void): Promise<void> {
  const model = scripted(({ messages }) => ({ text: `Answer ${messages.length}.`, usage: { input: 10, output: 2 } }))
  const agent = new Agent({ model, sessionId: 's1', configId: 'demo' })
  const recorder = new EventRecorder()
  agent.subscribe((event) => recorder.accept(event))
  await agent.prompt('Plan a trip.').result
  const branches = exploreBranches(agent, [
    { tag: 'sea', prompt: 'To the sea.' },
    { tag: 'hills', prompt: 'To the hills.' },
  ])
  for (const { run } of branches) for await (const event of run) recorder.accept(event)

  const store = memorySessionStore()
  for (const changed of recorder.checkpoint()) await store.save(changed)

  const session = await store.load('s1')
  for (const root of rootLoops(session)) {
    write(`${root.loopId}: ${root.status}, ${root.turns.length} turn, ${root.messages.length} messages`)
    for (const { loopId, continuationKind } of childrenOf(session, root.loopId)) write(`  ${loopId}: ${JSON.stringify(continuationKind)}`)
  }
  write(loopChainTo(session, 's1.demo.3').join(' → '))
  write(`${totalUsage(session).totalTokens} tokens`)
}
