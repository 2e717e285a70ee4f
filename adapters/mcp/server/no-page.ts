import type { AgentRun, PendingClientCall } from '../../../src/index.ts'

/** Tools of pages have none where this is called: the model is told so at once, as it would wait for nobody. */
export function answerWithoutPage(run: AgentRun, call: PendingClientCall): void {
  // It may have been withdrawn by then.
  void run.answerCall(call, { error: 'No page is there that could run it.' }).catch(() => undefined)
}
