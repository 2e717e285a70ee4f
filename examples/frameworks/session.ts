import { remoteSession } from 'phi-core/client'

/** The conversation of this tab: a reload finds it again, whatever it is at. */
sessionStorage.chat ??= crypto.randomUUID()
export const session = remoteSession({ url: '/agent', sessionId: sessionStorage.chat })
