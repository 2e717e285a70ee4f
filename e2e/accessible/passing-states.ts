import type { Page } from 'playwright/test'

/** What a page showed for a moment. */
export interface PassingState {
  /** Of the run. */
  status: string
  /** The length of the first answer. */
  answered: number
  isThinkingOpen: boolean
  /** Of each call: its status and its text. */
  calls: [status: string, text: string][]
}

/** Has the page note what passes from now on: a test on a busy machine sees nothing of it between two looks. */
export async function noteStates(page: Page): Promise<void> {
  await page.evaluate(note)
}

export function statesSeen(page: Page): Promise<PassingState[]> {
  return page.evaluate(() => Reflect.get(globalThis, '__states') as PassingState[])
}

function note(): void {
  const of = (id: string) => `[data-testid="${id}"]`
  const statusOf = (element: Element | null) => element?.getAttribute('data-status') ?? ''
  const states: unknown[] = []
  let last = ''
  const look = (): void => {
    const state = {
      status: statusOf(document.querySelector(of('run-status'))),
      answered: document.querySelector(`${of('message-assistant')} .text`)?.textContent.length ?? 0,
      isThinkingOpen: document.querySelector(`${of('thinking')}[open]`) !== null,
      calls: [...document.querySelectorAll(of('tool-card'))].map((card) => [statusOf(card), card.textContent]),
    }
    if (JSON.stringify(state) !== last) states.push(state)
    last = JSON.stringify(state)
  }
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true })
  Object.assign(globalThis, { __states: states })
}
