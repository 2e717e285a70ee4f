import { render } from 'preact'
import { App } from './app.tsx'
import { demoAgent } from './demo/agent.ts'
import { createSession } from './session.ts'

const root = document.getElementById('app')
if (root === null) throw new Error('index.html has no element #app.')
render(<App session={createSession(demoAgent())} />, root)
