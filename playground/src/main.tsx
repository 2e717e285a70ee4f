/// <reference types="vite/client" />
import { render } from 'preact'
import type { Scenario } from './demo/scenario.ts'
import { watchEarlyInput } from './early-input.ts'
import { loadAnswerParts } from './late/answer-parts.ts'
import { Opening } from './opening.tsx'
import { endpoint } from './remote/endpoint.ts'
import { settingsKey } from './settings/settings-key.ts'

const root = document.getElementById('app')
if (root === null) throw new Error('index.html has no element #app.')
const early = watchEarlyInput()
for (const type of ['dragover', 'drop'] as const) addEventListener(type, allowFiles)

const isFirst = isFirstVisit()
if (isFirst) showOpening(root)
// No top-level `await`: parts that are loaded meanwhile import this file's chunk, and would wait for it for ever.
void begin(root)

async function begin(root: HTMLElement): Promise<void> {
  try {
    // Nothing of the rest competes with the first picture.
    if (isFirst) await painted()
    const { start } = await import('./start.tsx')
    await start(root, early)
    void keepOffline()
  } catch (error) {
    early.end()
    showOpening(root, true)
    throw error
  }
}

/** Offline after the first load, where the page was built and came over https or from this machine; a page of a server ends with it. */
async function keepOffline(): Promise<void> {
  if (!import.meta.env.PROD || endpoint !== undefined) return
  try {
    await navigator.serviceWorker.register('offline.js')
  } catch {
    // There are none, or this page may have none: a frame without an origin may not even ask.
  }
}

/** Otherwise a browser lets nothing be dropped but text into a field, or leaves the page for the file. */
function allowFiles(event: DragEvent): void {
  if (event.dataTransfer?.types.includes('Files')) event.preventDefault()
}

function showOpening(root: HTMLElement, hasFailed = false): void {
  const onPick = (scenario: Scenario) => {
    early.picked = scenario
    if (!scenario.isWords) loadAnswerParts()
  }
  render(<Opening onPick={onPick} hasFailed={hasFailed} />, root)
}

/** Resolves when what was rendered is seen. A page that nobody sees is not painted: then soon. */
function painted(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve))
    setTimeout(resolve, 200)
  })
}

/** Whether what comes is known: the scripted model, in a new conversation. */
function isFirstVisit(): boolean {
  try {
    return endpoint === undefined && location.hash.length < 2 && localStorage.getItem(settingsKey) === null
  } catch {
    return false
  }
}
