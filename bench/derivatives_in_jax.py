"""GradBench's problems in JAX: `programs()` says for each its function, its derivative and arguments of the sizes in
bench/derivatives/."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.special import logsumexp

RNG = np.random.default_rng(0)


def uniform(*shape, scale=1.0):
    return jnp.asarray(RNG.uniform(-scale, scale, shape))


def least_squares(x, places):
    rest = jnp.sign(places) - jnp.polyval(x[::-1], places, unroll=16)
    return 0.5 * jnp.sum(rest * rest)


def k_means(centres, points):
    squares = jnp.sum(centres * centres, 1, keepdims=True) - 2 * centres @ points.T
    return jnp.sum(jnp.min(squares, 0)) + jnp.sum(points * points)


def k_means_direction(centres, points):
    slope = jax.grad(lambda c: k_means(c, points))
    gradient, rows = jax.jvp(slope, (centres,), (jnp.ones_like(centres),))
    return gradient / rows


def ode(x, steps, h):
    def slope(y):
        return x * jnp.concatenate([jnp.ones(1), y[:-1]])

    def step(y, _):
        k1 = slope(y)
        k2 = slope(y + h / 2 * k1)
        k3 = slope(y + h / 2 * k2)
        k4 = slope(y + h * k3)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

    return lax.scan(step, jnp.zeros_like(x), None, length=steps)[0][-1]


def gaussian_mixture(alpha, means, q, l, points):
    axes = q.shape[1]
    diagonal, sums = jnp.exp(q), jnp.sum(q, 1)
    columns, rows = np.array([(c, r) for c in range(axes) for r in range(c + 1, axes)]).T
    away = points[:, None] - means
    lower = jnp.zeros((len(q), axes, axes)).at[:, rows, columns].set(l)
    turned = diagonal * away + jnp.einsum("kij,nkj->nki", lower, away)
    terms = alpha + sums - 0.5 * jnp.sum(turned * turned, 2)
    prior = 0.5 * (jnp.sum(diagonal * diagonal) + jnp.sum(l * l))
    return jnp.sum(logsumexp(terms, 1)) - len(points) * logsumexp(alpha) - prior


def lstm(layers, ends, state, sequence):
    x = sequence[:-1] * ends[0]
    for (weight, bias), (hidden, cell) in zip(layers, state):
        forget, out = (jax.nn.sigmoid(x * weight[gate] + bias[gate]) for gate in (0, 2))

        def step(carry, gates, weight=weight, bias=bias):
            hidden, cell = carry
            changed = jax.nn.sigmoid(hidden * weight[1] + bias[1]) * jnp.tanh(hidden * weight[3] + bias[3])
            cell = cell * gates[0] + changed
            hidden = gates[1] * jnp.tanh(cell)
            return (hidden, cell), hidden

        x = lax.scan(step, (hidden, cell), (forget, out))[1]
    output = x * ends[1] + ends[2]
    whole = jnp.log(2 + jnp.sum(jnp.exp(output), 1, keepdims=True))
    return jnp.mean(sequence[1:] * (whole - output))


def reprojection(x, u, v):
    angle = jnp.sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])
    w, away = [x[k] / angle for k in range(3)], [x[11 + k] - x[3 + k] for k in range(3)]
    along = (w[0] * away[0] + w[1] * away[1] + w[2] * away[2]) * (1 - jnp.cos(angle))

    def turned(i, j, k):
        return away[i] * jnp.cos(angle) + (w[j] * away[k] - w[k] * away[j]) * jnp.sin(angle) + w[i] * along

    across, down = turned(0, 1, 2) / turned(2, 0, 1), turned(1, 2, 0) / turned(2, 0, 1)
    square = across * across + down * down
    scale = (1 + square * (x[9] + x[10] * square)) * x[6]
    return x[14] * (across * scale + x[7] - u), x[14] * (down * scale + x[8] - v)


def variables_of_observations(cameras, points, weights, camera, seen):
    return [cameras[camera, k] for k in range(11)] + [points[seen, k] for k in range(3)] + [weights]


def bundle_adjustment(cameras, points, weights, camera, seen, features):
    variables = variables_of_observations(cameras, points, weights, camera, seen)
    return reprojection(variables, features[:, 0], features[:, 1]), 1 - weights * weights


def bundle_adjustment_jacobian(cameras, points, weights, camera, seen, features):
    """By columns, as ours; jacrev of whole observations takes three times as long."""
    variables = variables_of_observations(cameras, points, weights, camera, seen)
    rows = [jax.vmap(jax.grad(lambda x, u, v: reprojection(x, u, v)[row]))(variables, features[:, 0], features[:, 1])
            for row in (0, 1)]
    return rows, jax.vmap(jax.grad(lambda w: 1 - w * w))(weights)


def turn_around(axis):
    angle = jnp.sqrt(axis @ axis)
    w = axis / angle
    crossed = jnp.cross(w, jnp.eye(3)).T
    return jnp.outer(w, w) * (1 - jnp.cos(angle)) + jnp.cos(angle) * jnp.eye(3) + jnp.sin(angle) * crossed


def hand_motions(variables, relative, from_rest):
    whole, angles = turn_around(variables[:3]), variables[6:].reshape(5, 4)
    of_fingers = relative[1:21].reshape(5, 4, 4, 4)

    def joint(bend, aside):
        bc, bs, c, s, zero, one = jnp.cos(bend), jnp.sin(bend), jnp.cos(aside), jnp.sin(aside), 0 * bend, 0 * bend + 1
        rows = [c, -s * bc, s * bs, zero, s, c * bc, -c * bs, zero, zero, bs, bc, zero, zero, zero, zero, one]
        return jnp.stack(rows, 1).reshape(5, 4, 4)

    first = relative[0] @ of_fingers[:, 0]
    second = first @ of_fingers[:, 1] @ joint(angles[:, 0], angles[:, 1])
    third = second @ of_fingers[:, 2] @ joint(angles[:, 2], 0 * angles[:, 2])
    fourth = third @ of_fingers[:, 3] @ joint(angles[:, 3], 0 * angles[:, 3])
    fingers = jnp.stack([first, second, third, fourth], 1).reshape(20, 4, 4)
    at = jnp.concatenate([relative[:1], fingers, relative[:1] @ relative[21:]])
    return (whole @ (at @ from_rest)[:, :3]).transpose(0, 2, 1).reshape(88, 3)


def hand_shares(resting, weights):
    return (weights[:, None] * resting).reshape(88, -1).T


def hand_tracking(variables, relative, from_rest, resting, weights, vertex_of, measured):
    vertices = hand_shares(resting, weights) @ hand_motions(variables, relative, from_rest) + variables[3:6]
    return measured - vertices[vertex_of]


def hand_tracking_jacobian(variables, relative, from_rest, resting, weights, vertex_of, measured):
    by_motions = jax.jacfwd(hand_motions)(variables, relative, from_rest)
    by_place = jax.jacfwd(lambda x: x[3:6])(variables)
    return (hand_shares(resting, weights) @ -by_motions.reshape(88, 78) - by_place.reshape(78)).reshape(-1, 3, 26)[vertex_of]


def determinant(matrix):
    size = len(matrix)
    minors = [1.0]
    for columns in range(1, 1 << size):  # sets, whose bits say which columns they have
        of_set = [c for c in range(size) if columns >> c & 1]
        row = size - len(of_set)
        minors.append(sum((-1) ** n * matrix[row, c] * minors[columns ^ 1 << c] for n, c in enumerate(of_set)))
    return minors[-1]


def programs():
    """By problem: the function and its gradient, with arguments."""
    x = uniform(100_000, scale=4)
    coefficients, places = uniform(64), jnp.linspace(-1, 1, 2048)
    centres, points = uniform(20, 8), uniform(2000, 8)
    rates = 1 + uniform(64, scale=0.5)
    mixture = (uniform(10, scale=0.5), uniform(10, 16, scale=0.5), uniform(10, 16, scale=0.5),
               uniform(10, 120, scale=0.5), uniform(1000, 16))
    network = (uniform(2, 2, 4, 14), uniform(3, 14), uniform(2, 2, 14, scale=0.5), (uniform(1024, 14) > 0) * 1.0)
    around = jnp.array([0.3, -0.2, 0.4, 0, 0, -5, 2, 0.1, 0.2, 0.1, 0.05])
    bundle = (around + uniform(49, 11, scale=0.1), uniform(7776, 3), 1 + uniform(32000, scale=0.2),
              jnp.asarray(RNG.integers(0, 49, 32000)), jnp.asarray(RNG.integers(0, 7776, 32000)), uniform(32000, 2))
    hand = (uniform(26, scale=0.7), uniform(22, 4, 4), uniform(22, 4, 4), uniform(4, 544), uniform(22, 544),
            jnp.asarray(RNG.integers(0, 544, 12800)), uniform(12800, 3))
    last = lambda r: ode(r, 300, 2 / 300)
    return {
        "lse": (logsumexp, jax.grad(logsumexp), (x,)),
        "llsq": (least_squares, jax.grad(least_squares), (coefficients, places)),
        "kmeans": (k_means, k_means_direction, (centres, points)),
        "ode": (last, jax.grad(last), (rates,)),
        "gmm": (gaussian_mixture, jax.grad(gaussian_mixture, (0, 1, 2, 3)), mixture),
        "lstm": (lstm, jax.grad(lstm, (0, 1)), network),
        "ba": (bundle_adjustment, bundle_adjustment_jacobian, bundle),
        "ht": (hand_tracking, hand_tracking_jacobian, hand),
        "det": (determinant, jax.grad(determinant), (uniform(6, 6),)),
    }
