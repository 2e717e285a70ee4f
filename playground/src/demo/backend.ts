import { openLocalBackend } from '../state/local-backend.ts'
import { demoSetup } from './agent.ts'

/** Conversations with the demo agent, in this tab. */
export const openDemoBackend = (onOtherTab: (sessionId: string) => void) => openLocalBackend(demoSetup, onOtherTab)
