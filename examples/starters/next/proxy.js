import { NextResponse } from 'next/server'

/** Sets a cookie with a random name for each new visitor. */
export function proxy(request) {
  const response = NextResponse.next()
  if (!request.cookies.has('visitor')) response.cookies.set('visitor', crypto.randomUUID(), { httpOnly: true, sameSite: 'lax' })
  return response
}

export const config = { matcher: '/' }
