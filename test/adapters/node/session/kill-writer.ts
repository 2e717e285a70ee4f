// The process that is killed: argv kind of store, directory, session, name, number of records. Says `ready`, then the text of each record that was
// acknowledged. Takes the session back when another writer has it.
import { writeSync } from 'node:fs'
import { SessionError } from '../../../../src/session.ts'
import { killedStore } from '../../../support/killed-store.ts'

const [kind = '', directory = '', sessionId = '', name = '', count = ''] = process.argv.slice(2)

/** Every few records one is so long that a kill can cut it. */
const padding = (number: number) => (number % 25 === 3 ? '·'.repeat(20_000) : '')

const { store, close } = killedStore(kind, directory)

let attempts = 0
let acknowledged = 0

/** Appends until it is refused or done. A refused record may be in the log all the same, so it is not tried again under its name. */
async function append(): Promise<void> {
  const writer = await store.open(sessionId, { agentId: 'agent-1' })
  try {
    while (acknowledged < Number(count)) {
      const number = attempts++
      const text = `${name}.${number}`
      const content = [{ type: 'text' as const, text: `${text} ${padding(number)}` }]
      await writer.append([{ loopId: 'l1', entry: { type: 'input', message: { role: 'user', id: text, content, timestamp: 1 } } }])
      acknowledged += 1
      writeSync(1, `${text}\n`)
    }
  } catch (error) {
    if (!SessionError.isInstance(error) || error.code !== 'conflict') throw error
  } finally {
    await writer.close()
  }
}

writeSync(1, 'ready\n')
while (acknowledged < Number(count)) {
  await append()
  // Without a pause, writers that all want the session refuse each other for a long time.
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 300))
}
close()
