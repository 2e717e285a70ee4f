import { indexedDbSessionStore } from '../../../adapters/browser/index.ts'
import { appendCost } from './append-cost.ts'

/** What `run.ts` calls in the page. */
export const measured = (): ReturnType<typeof appendCost> => appendCost(indexedDbSessionStore())
