/** Determines why a request failed, which browsers do not report. */
export type NetworkCause = 'offline' | 'back' | 'policy' | 'origin' | 'unreachable'

export const networkCauses: Record<NetworkCause, string> = {
  offline: 'This device is offline. Retry when you are online.',
  back: 'This device was offline and is online again. Retry.',
  policy: 'The content security policy of this page blocks that URL. Use the model proxy, or host the page yourself.',
  origin: 'The server responds, but does not allow this page to call it (CORS). Allow this page on the server, or use the model proxy.',
  unreachable: 'No server responds at that URL. Check that the server is running, and check the URL in the settings.',
}

/** Requests the server at `url` once, without a key, and ignores the response. */
export async function networkCause(url: string): Promise<NetworkCause | undefined> {
  if (!navigator.onLine) return 'offline'
  if (!URL.canParse(url)) return undefined
  let isForbidden = false
  const onViolation = ({ blockedURI }: SecurityPolicyViolationEvent) => {
    if (URL.canParse(blockedURI) && new URL(blockedURI).origin === new URL(url).origin) isForbidden = true
  }
  document.addEventListener('securitypolicyviolation', onViolation)
  try {
    await fetch(new URL(url).origin, { mode: 'no-cors', credentials: 'omit', signal: AbortSignal.timeout(5000) })
    return 'origin'
  } catch {
    // The event is dispatched after the rejection.
    await new Promise((resolve) => setTimeout(resolve))
    return isForbidden ? 'policy' : 'unreachable'
  } finally {
    document.removeEventListener('securitypolicyviolation', onViolation)
  }
}
