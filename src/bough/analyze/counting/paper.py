"""Jain and Rodriguez' formulas for a serial chain of equal flexible bodies, ruthlessly linearized; see docs/theory/cost.md."""
from bough.analyze.counting.counts import Operations

MOST_INVERTED = 7               # modes up to which the paper inverts D as it is


def composite_body(bodies: int, modes: int, hinge: int = 1) -> Operations:
    """Forward dynamics by the mass matrix, with hinges of so many degrees of freedom."""
    n, size = modes, bodies*(modes + hinge)
    rows = bodies*(bodies + 1)//2                                       # sum of k
    multiplications = (bodies*(48*n + 90) + rows*(12*n*n + 34*n + 13) + bodies*(2*n*n + 54*n + 206)
                       + size**3/6 + 3*size**2/2 - 2*size/3)
    additions = (bodies*(n*n + 97*n/2 + 116) + rows*(11*n*n + 24*n + 13) + bodies*(2*n*n + 50*n + 143) + size
                 + size**3/6 + size**2 - 7*size/6)
    return Operations(round(multiplications), round(additions))


def articulated_body(bodies: int, modes: int) -> Operations:
    """Forward dynamics by articulated bodies, with hinges of one degree of freedom."""
    n = modes
    if n <= MOST_INVERTED:
        inertia = (5*n**3/6 + 25*n*n/2 + 764*n/3 + 180, 5*n**3/6 + 21*n*n/2 + 548*n/3 + 161)
    else:
        inertia = (12*n*n + 255*n + 572, 13*n*n + 182*n + 445)
    multiplications = inertia[0] + (n*n + 25*n + 49) + (18*n + 52)
    additions = inertia[1] + (n*n + 24*n + 50) + (19*n + 42)
    return Operations(round(bodies*multiplications), round(bodies*additions))
