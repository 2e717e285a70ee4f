/// <reference types="vite/client" />
import { render } from 'preact'
import { App } from './app.tsx'
import { openBackend } from './settings/placed-backend.ts'
import { createDesk } from './state/desk.ts'

const root = document.getElementById('app')
if (root === null) throw new Error('index.html has no element #app.')
// No top-level `await`: parts that are loaded meanwhile import this file's chunk, and would wait for it for ever.
createDesk(openBackend).then((desk) => render(<App desk={desk} />, root))

// Offline after the first load, where the page was built and came over https or from this machine.
if (import.meta.env.PROD && 'serviceWorker' in navigator) navigator.serviceWorker.register('offline.js').catch(() => undefined)
