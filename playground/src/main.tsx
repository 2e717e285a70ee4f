/// <reference types="vite/client" />
import { render } from 'preact'
import { watchEarlyInput } from './early-input.ts'
import { Opening } from './opening.tsx'
import { endpoint } from './remote/endpoint.ts'
import { settingsKey } from './settings/settings-key.ts'

const root = document.getElementById('app')
if (root === null) throw new Error('index.html has no element #app.')
const early = watchEarlyInput()

// No top-level `await`: parts that are loaded meanwhile import this file's chunk, and would wait for it for ever.
const starting = import('./start.tsx')
if (isFirstVisit()) {
  render(
    <Opening
      onPick={(scenario) => {
        early.picked = scenario
      }}
    />,
    root,
  )
}
starting.then(({ start }) => start(root, early))

// Offline after the first load, where the page was built and came over https or from this machine; a page of a server ends with it.
if (import.meta.env.PROD && endpoint === undefined && 'serviceWorker' in navigator)
  navigator.serviceWorker.register('offline.js').catch(() => undefined)

/** Whether what comes is known: the scripted model, in a new conversation. */
function isFirstVisit(): boolean {
  try {
    return endpoint === undefined && location.hash.length < 2 && localStorage.getItem(settingsKey) === null
  } catch {
    return false
  }
}
