import { type Script, scripted } from '../../../../src/providers/scripted/index.ts'
import { tool } from '../../../support/play.ts'
import { pageWorld } from './page-world.ts'

/** What goes wrong, and how long a payment takes; `payment` and `call` count from 1. */
interface PayingOptions {
  /** Which model calls after a payment fail. */
  fails?: (call: number) => boolean
  wait?: (payment: number) => Promise<void>
}

/** A server whose model pays by a tool, then says how often it has paid. */
export async function payingWorld({ fails = () => false, wait = async () => undefined }: PayingOptions = {}) {
  let paid = 0
  let afterwards = 0
  const pay = tool('pay', async () => {
    paid += 1
    await wait(paid)
    return 'paid'
  })
  const script: Script = ({ messages }) => {
    if (messages.at(-1)?.role !== 'toolResult') return { toolCalls: [{ name: 'pay', arguments: {} }] }
    afterwards += 1
    return fails(afterwards) ? { fail: { code: 'auth', message: 'no key' } } : { text: `paid ${paid}` }
  }
  const world = await pageWorld(() => ({ model: scripted(script), tools: [pay] }))
  return { world, paid: () => paid, modelCalls: () => afterwards }
}
