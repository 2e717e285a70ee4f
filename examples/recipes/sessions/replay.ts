import { Agent, memorySessionStore } from 'phi-core'
import { replayEvents, withEvents } from 'phi-core/session'
import { scripted } from 'phi-core/testing'

/** Stores the events of a run and replays them. The model is scripted. */
export async function replay(write: (line: string) => void): Promise<void> {
  const store = memorySessionStore()
  const session = withEvents(store, { includeStreamingEvents: true })
  const agent = new Agent({ model: scripted([{ text: 'Honey.' }]), session, sessionId: 's1' })
  await agent.prompt('What do bees make?').text()
  await agent.close()

  const { sessions } = await store.list({ limit: 20 })
  for (const { sessionId, title, messages } of sessions) {
    write(`${sessionId}: ${title} (${messages} messages)`)
    // Ten times as fast as the run, without pauses of more than a second.
    for await (const event of replayEvents(store, sessionId, { speed: 10, maxPauseMs: 1000 })) {
      if (event.type === 'messageUpdate' && event.delta.type === 'text') write(event.delta.delta)
    }
  }
}
