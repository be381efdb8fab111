// The golden lines of Rule 30: 40 cells on a ring, a single one alive at first, and the 20 steps that follow.
#pragma once

#include <array>
#include <string_view>

namespace golden {

inline constexpr std::array<std::string_view, 21> rule_30_lines{
    "                    *                   ", "                   ***                  ",
    "                  **  *                 ", "                 ** ****                ",
    "                **  *   *               ", "               ** **** ***              ",
    "              **  *    *  *             ", "             ** ****  ******            ",
    "            **  *   ***     *           ", "           ** **** **  *   ***          ",
    "          **  *    * **** **  *         ", "         ** ****  ** *    * ****        ",
    "        **  *   ***  **  ** *   *       ", "       ** **** **  *** ***  ** ***      ",
    "      **  *    * ***   *  ***  *  *     ", "     ** ****  ** *  * *****  *******    ",
    "    **  *   ***  **** *    ***      *   ", "   ** **** **  ***    **  **  *    ***  ",
    "  **  *    * ***  *  ** *** ****  **  * ", " ** ****  ** *  ******  *   *   *** ****",
    " *  *   ***  ****     **** *** **   *   "};

} // namespace golden
