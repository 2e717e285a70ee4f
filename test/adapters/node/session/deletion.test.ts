import { describe, expect, it } from 'vitest'
import { fileDriver } from '../../../../adapters/node/session/file-driver.ts'
import type { SessionStore } from '../../../../src/index.ts'
import { logSessionStore } from '../../../../src/session.ts'
import { note, notesIn } from '../../../../testing/session-store/session-samples.ts'
import { SimulatedMachine } from '../../../session/crash/simulated-machine.ts'
import { runs } from '../../../support/runs.ts'

const seeds = runs(200, 2000)
const enough = 100_000

/** One machine on which a session is written, deleted while others write to it, and read, through kills and a power cut. */
class DeletionRun {
  readonly #machine: SimulatedMachine
  /** Acknowledged before the deletion began. */
  readonly #before: string[] = []
  /** Acknowledged, and not yet begun when the deletion was. */
  readonly #after: string[] = []
  #isDeleted = false
  #count = 0

  constructor(seed: number) {
    this.#machine = new SimulatedMachine(seed)
  }

  #store(): SessionStore {
    return logSessionStore(fileDriver('/home/sessions', this.#machine.process().operations))
  }

  /** Lets nothing go wrong. */
  async #calm<T>(work: Promise<T>): Promise<T> {
    work.catch(() => {})
    await this.#machine.run(enough, { calm: true })
    return work
  }

  async #write(acknowledged: string[] | undefined): Promise<void> {
    const writer = await this.#store().open('s', { agentId: 'a' })
    for (let records = 1 + this.#machine.pick(3); records > 0; records -= 1) {
      const text = `${this.#count++}`.padEnd(this.#machine.random() < 0.3 ? 30_000 : 1, '.')
      const isAfter = this.#isDeleted
      await writer.append([note(text)])
      if (acknowledged !== undefined) acknowledged.push(text)
      else if (isAfter) this.#after.push(text)
    }
    await writer.close()
  }

  async #keepWriting(): Promise<void> {
    const { boots } = this.#machine
    for (let round = 0; round < 4 && this.#machine.boots === boots; round += 1) await this.#write(undefined).catch(() => {})
  }

  async #keepDeleting(): Promise<void> {
    const { boots } = this.#machine
    while (!this.#isDeleted && this.#machine.boots === boots) {
      this.#isDeleted = await this.#store()
        .delete('s')
        .then(() => this.#machine.boots === boots)
        .catch(() => false)
    }
  }

  async #read(): Promise<string[]> {
    const reading = this.#store()
      .tail('s')
      .then(({ records }) => notesIn(records).map(String))
    return this.#calm(reading).catch(() => [])
  }

  /** What went wrong. */
  async problems(): Promise<string[]> {
    for (let round = 0; round < 3; round += 1) await this.#calm(this.#write(this.#before))
    void this.#keepWriting()
    void this.#keepDeleting()
    void this.#keepWriting()
    // Often the power is cut right after the deletion, when only what it synced itself is durable.
    for (let steps = this.#machine.pick(100); steps > 0 && !(this.#isDeleted && this.#machine.random() < 0.3); steps -= 1) {
      await this.#machine.run(4)
    }
    if (this.#machine.random() < 0.5) await this.#machine.cutPower()
    else await this.#machine.run(enough)
    const found = await this.#read()
    const back = this.#isDeleted ? this.#before.filter((text) => found.includes(text)).map((text) => `${text.slice(0, 9)} is back`) : []
    const lost = this.#after.filter((text) => !found.includes(text)).map((text) => `${text.slice(0, 9)} is lost`)
    return [...back, ...lost, ...(await this.#remains())]
  }

  /** What a deletion that nothing disturbs leaves, and what a session of the same id then lacks. */
  async #remains(): Promise<string[]> {
    await this.#machine.cutPower()
    const deletable = (await this.#read()).length > 0
    const isDeleted = await this.#calm(this.#store().delete('s'))
    const remains = [...(await this.#calm(this.#store().listIds())), ...(await this.#read())].map((text) => `${text.slice(0, 9)} remains`)
    if (deletable && this.#machine.disk.directory('/home/sessions').names.has('s')) remains.push('its folder remains')
    const again: string[] = []
    await this.#calm(this.#write(again))
    const isAgain = (await this.#read()).join() === again.join()
    return [
      ...(deletable && !isDeleted ? ['it says that nothing was deleted'] : []),
      ...remains,
      ...(isAgain ? [] : ['it does not begin anew']),
    ]
  }
}

describe('deleting a session of the file store', () => {
  it('deletes permanently without affecting a later session, despite crashes and power loss', async () => {
    for (let seed = 1; seed <= seeds; seed += 1) expect(await new DeletionRun(seed).problems(), `seed ${seed}`).toEqual([])
  })
})
