import { Agent, memorySessionStore, resumeAgent } from 'phi-core'
import { scripted } from 'phi-core/testing'

export async function recorded(write: (line: string) => void): Promise<void> {
  // A scripted model; no API call is made. This store is in memory; all others work the same way.
  const model = scripted([{ text: 'Honey.' }, { text: 'From nectar.' }])
  const store = memorySessionStore()

  const agent = new Agent({ model, session: store, sessionId: 's1' })
  write(await agent.prompt('What do bees make?').text())
  await agent.close()

  // In another process, for example after a crash, you need only the store and the id.
  const resumed = await resumeAgent(store, 's1', { model })
  write(`${resumed.messages.length} messages`)
  write(await resumed.prompt('Of what?').text())
  for (const { loopId, status, parentLoopId = 'no loop' } of (await store.load('s1')).loops)
    write(`${loopId}: ${status}, after ${parentLoopId}`)
}
