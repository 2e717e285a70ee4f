import { remoteSession } from 'phi-core/client'

/** The conversation of this tab: a reload finds it again, whatever it is at. Another tab joins it by its id behind `#`. */
sessionStorage.chat ??= location.hash.slice(1) || crypto.randomUUID()
export const session = remoteSession({ url: '/agent', sessionId: sessionStorage.chat })
