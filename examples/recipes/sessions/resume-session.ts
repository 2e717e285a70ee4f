import { Agent, defineTool, memorySessionStore, resumeAgent, textOf } from 'phi-core'
import { scripted } from 'phi-core/testing'

const call = { toolCalls: [{ name: 'pay', arguments: { euros: 5 } }] }

/** A tool with a side effect. Without `idempotent: true`, an interrupted call does not run again. */
function payment(pay: (euros: number) => Promise<string>) {
  const parameters = { type: 'object', properties: { euros: { type: 'number' } }, required: ['euros'] }
  return defineTool<{ euros: number }>({ name: 'pay', description: 'Pays.', parameters, execute: ({ euros }) => pay(euros) })
}

/** Simulates a process that ends during a tool call. Models are scripted. */
export async function afterCrash(write: (line: string) => void): Promise<void> {
  const store = memorySessionStore()
  await new Promise<void>((begun) => {
    const hangs = payment(() => {
      begun()
      return new Promise(() => undefined)
    })
    new Agent({ model: scripted([call]), tools: [hangs], session: store, sessionId: 's1' }).prompt('Pay five euros.')
  })
  // The first process ends here. In the next one:
  const pays = payment(async (euros) => `paid ${euros}`)
  const agent = await resumeAgent(store, 's1', { model: scripted([{ text: 'I will check first.' }]), tools: [pays] })
  for (const message of agent.messages) if (message.role === 'toolResult') write(textOf(message.content))
  write(await agent.continueLoop().text())
  for (const { loopId, status } of (await store.load('s1')).loops) write(`${loopId}: ${status}`)
}
